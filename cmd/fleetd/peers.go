package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) peersCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "peers", Short: "who is connected, and where", Args: cobra.NoArgs}
	return a.ask(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Members(ctx)
		if err != nil {
			return err
		}
		peers := peerList{SchemaVersion: wire.SchemaVersion, Peers: []wire.Member{}}
		for _, m := range list.Members {
			switch m.State {
			case wire.StateSelf, wire.StateOffline, wire.StateNeverSeen, wire.StateRevoked, wire.StateSucceeded, wire.StateExpired:
			default:
				peers.Peers = append(peers.Peers, m)
			}
		}
		return a.print(peers, func(w io.Writer) {
			rows := make([][]string, 0, len(peers.Peers))
			for _, p := range peers.Peers {
				rows = append(rows, []string{p.Name, stateText(p), lagText(p), strings.Join(p.Addresses, " ")})
			}
			a.table(w, []string{"PEER", "STATE", "LAG", "ADDRESSES"}, rows)
		})
	})
}

// peerList is the members that are connected.
type peerList struct {
	SchemaVersion int           `json:"schema_version"`
	Peers         []wire.Member `json:"peers"`
}

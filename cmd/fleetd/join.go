package main

import (
	"context"
	"encoding/hex"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
)

func (a *app) joinCommand() *cobra.Command {
	var cfg node.JoinConfig
	cmd := &cobra.Command{
		Use: "join TICKET", Short: "make this machine a member, with a ticket of fleetd invite", Args: cobra.ExactArgs(1),
		Long: `Makes a new instance in the data directory, which must not hold one, and lets the
machine that made the ticket take it into its fleet. TICKET - reads the ticket
from standard input, which keeps it out of the shell's history. Then: fleetd run.`,
	}
	cmd.Flags().StringVar(&cfg.Name, "name", "", "what the fleet calls this machine, unless the ticket says")
	addFounding(cmd, &cfg.Listen, (*string)(&cfg.StoreKind))
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		ticket, err := a.textArgument(args[0])
		if err != nil {
			return err
		}
		if cfg.Dir, err = a.dir(); err != nil {
			return err
		}
		cfg.Ticket = strings.TrimSpace(ticket)
		a.progress("asking the fleet...")
		made, err := node.Join(ctx, cfg)
		if err != nil {
			return err
		}
		return a.showInstance(made, "joined as")
	})
}

// addFounding adds the flags that a new instance keeps in its configuration.
func addFounding(cmd *cobra.Command, listen *[]string, store *string) {
	cmd.Flags().StringSliceVar(listen, "listen", nil, "addresses to keep in config.yaml (default: one free port, TCP and QUIC, all interfaces)")
	cmd.Flags().StringVar(store, "store", "", "badger, or memory, which forgets everything when the daemon ends (default badger)")
}

// progress tells people, and nobody else, that something takes time.
func (a *app) progress(text string) {
	if isTerminal(a.errOut) {
		a.note("%s", text)
	}
}

// instance is the result of init and join.
type instance struct {
	SchemaVersion int      `json:"schema_version"`
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Fleet         string   `json:"fleet"`
	Dir           string   `json:"dir"`
	Listen        []string `json:"listen"`
}

func (a *app) showInstance(made node.Instance, verb string) error {
	i := instance{
		SchemaVersion: wire.SchemaVersion, ID: made.ID.String(), Name: made.Name, Fleet: hex.EncodeToString(made.Fleet[:]),
		Dir: made.Dir, Listen: append([]string{}, made.Listen...),
	}
	return a.print(i, func(w io.Writer) {
		say(w, "%s %s (%s)", verb, oneLine(i.Name), i.ID)
		say(w, "fleet %s", i.Fleet)
		say(w, "data directory %s", i.Dir)
		say(w, "next: fleetd run")
	})
}

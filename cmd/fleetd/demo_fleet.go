package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
)

const (
	// demoHeartbeat is far below the default, since a person waits.
	demoHeartbeat = 300 * time.Millisecond
	// demoReconnect is how soon a lost member is dialled again.
	demoReconnect = 100 * time.Millisecond
	// demoPoll is how often roots are compared while waiting.
	demoPoll = 50 * time.Millisecond
)

// errNotConverged is returned when the time was over before roots were equal.
var errNotConverged = errors.New("the nodes did not become equal in time")

// demoFleet is three nodes in this process.
type demoFleet struct {
	nodes  []*demoNode
	gossip bool
}

// demoNode is one of them. node is nil while it is closed, and ran is nil while
// it is offline: open for its own agents, without a network.
type demoNode struct {
	name string
	dir  string
	node *node.Node
	ran  chan error
}

func newDemoFleet(dir string, gossip bool) *demoFleet {
	f := &demoFleet{gossip: gossip}
	for _, name := range []string{"desk", "laptop", "server"} {
		f.nodes = append(f.nodes, &demoNode{name: name, dir: filepath.Join(dir, name)})
	}
	return f
}

// found makes the fleet: the first node begins it and the others join.
func (f *demoFleet) found(ctx context.Context) error {
	listen := []string{"/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1"}
	first := f.nodes[0]
	if _, err := node.Init(ctx, node.InitConfig{Dir: first.dir, Name: first.name, Listen: listen}); err != nil {
		return err
	}
	if err := errors.Join(f.open(ctx, first), first.online(ctx)); err != nil {
		return err
	}
	for _, n := range f.nodes[1:] {
		invited, err := first.node.Invite(ctx, fleet.InvitationConfig{Name: n.name})
		if err != nil {
			return fmt.Errorf("invite %s: %w", n.name, err)
		}
		if _, err := node.Join(ctx, node.JoinConfig{Dir: n.dir, Ticket: invited.Ticket, Listen: listen}); err != nil {
			return fmt.Errorf("%s joins: %w", n.name, err)
		}
		if err := errors.Join(f.open(ctx, n), n.online(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// open opens a node's store for its agents. It has no network yet.
func (f *demoFleet) open(ctx context.Context, n *demoNode) error {
	cfg, err := node.ReadConfig(n.dir)
	if err != nil {
		return err
	}
	cfg.Gossip, cfg.HeartbeatEvery, cfg.ReconnectMin = f.gossip, demoHeartbeat, demoReconnect
	n.node, err = node.New(ctx, cfg)
	if err != nil {
		return fmt.Errorf("open %s: %w", n.name, err)
	}
	return nil
}

// online begins the network of an open node.
func (n *demoNode) online(ctx context.Context) error {
	if n.node == nil {
		return fmt.Errorf("%s is not open", n.name)
	}
	n.ran = make(chan error, 1)
	go func() { n.ran <- n.node.Run(ctx) }()
	select {
	case <-n.node.Ready():
		return nil
	case err := <-n.ran:
		n.ran = nil
		return fmt.Errorf("%s runs: %w", n.name, err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close stops a node and gives its directory back.
func (n *demoNode) close() error {
	if n.node == nil {
		return nil
	}
	err := n.node.Close()
	if n.ran != nil {
		err = errors.Join(err, <-n.ran)
	}
	n.node, n.ran = nil, nil
	if err != nil {
		return fmt.Errorf("stop %s: %w", n.name, err)
	}
	return nil
}

func (f *demoFleet) close() error {
	var err error
	for _, n := range f.nodes {
		err = errors.Join(err, n.close())
	}
	return err
}

// settle waits until every node that is online has heard from every other one
// and all hold the same, and returns their common root.
func (f *demoFleet) settle(ctx context.Context) (root string, err error) {
	ticker := time.NewTicker(demoPoll)
	defer ticker.Stop()
	for {
		root, why, err := f.compare(ctx)
		if err != nil || why == "" {
			return root, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return "", fmt.Errorf("%w: %s", errNotConverged, why)
		}
	}
}

// compare asks every node that is online once. why is empty when all are equal.
func (f *demoFleet) compare(ctx context.Context) (root, why string, err error) {
	online := map[string]bool{}
	for _, n := range f.nodes {
		online[n.name] = n.ran != nil
	}
	for _, n := range f.nodes {
		if !online[n.name] {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, time.Second)
		probe, errProbe := n.node.Probe(limited)
		cancel()
		if errProbe != nil {
			return "", "", fmt.Errorf("%s asks the others: %w", n.name, errProbe)
		}
		for _, a := range probe.Members {
			if online[a.Name] && !a.Equal {
				return "", fmt.Sprintf("%s sees: %s", n.name, strings.TrimSpace(a.Name+" "+a.Why)), nil
			}
		}
		if root != "" && root != probe.Root {
			return "", n.name + " has another root", nil
		}
		root = probe.Root
	}
	return root, "", nil
}

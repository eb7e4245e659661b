package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
)

// Two nodes in one program: one begins a fleet, the other joins it by a ticket,
// and what one is told the other knows.
func ExampleNode() {
	if err := shareOneItem(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// laptop knows: The build needs port 5432 free.
}

func shareOneItem() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // it ends both
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	listen := []string{"/ip4/127.0.0.1/tcp/0"} // on machines of their own leave it out

	first := filepath.Join(dir, "desk")
	if _, err := node.Init(ctx, node.InitConfig{Dir: first, Name: "desk", Listen: listen}); err != nil {
		return err
	}
	desk, err := runNode(ctx, first)
	if err != nil {
		return err
	}
	defer func() { _ = desk.Close() }()

	invited, err := desk.Invite(ctx, fleet.InvitationConfig{})
	if err != nil {
		return err
	}
	second := filepath.Join(dir, "laptop")
	if _, err := node.Join(ctx, node.JoinConfig{Dir: second, Ticket: invited.Ticket, Name: "laptop", Listen: listen}); err != nil {
		return err
	}
	laptop, err := runNode(ctx, second)
	if err != nil {
		return err
	}
	defer func() { _ = laptop.Close() }()

	if _, err := desk.State().Memory().Write(ctx, state.MemoryItem{Kind: "fact", Content: "The build needs port 5432 free."}); err != nil {
		return err
	}
	for _, err := range laptop.State().Watch(ctx, 0) { // each change, local or of others
		if err != nil {
			return err
		}
		items, err := laptop.State().Memory().Recall(ctx, state.RecallQuery{Query: "port"})
		if err != nil {
			return err
		}
		if len(items) > 0 {
			fmt.Println("laptop knows:", items[0].Content)
			return nil
		}
	}
	return ctx.Err()
}

// runNode opens the node of a data directory and runs it until ctx ends.
func runNode(ctx context.Context, dir string) (*node.Node, error) {
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	n, err := node.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	select {
	case <-n.Ready():
		return n, nil
	case err := <-ended:
		return nil, err
	}
}

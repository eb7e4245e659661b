package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/store"
)

// CheckName names what a node needs to serve its fleet.
type CheckName string

// The checks of a node.
const (
	// CheckNode is that Run has begun to dial.
	CheckNode CheckName = "node"
	// CheckNetwork is that the node listens; one that is told to listen nowhere only
	// dials, and passes.
	CheckNetwork CheckName = "network"
	// CheckWrites is that the store takes writes.
	CheckWrites CheckName = "writes"
	// CheckClock is that no write is refused because of the clock. One that is wrong
	// by less, or behind the fleet's, does not count.
	CheckClock CheckName = "clock"
)

// Check is one of them.
type Check struct {
	Name CheckName
	// Err says why it fails; nil when it does not.
	Err error
}

// Checks makes every check, as long as ctx allows.
func (n *Node) Checks(ctx context.Context) []Check {
	return []Check{
		{CheckNode, n.checkRuns()}, {CheckNetwork, n.checkNetwork()}, {CheckWrites, n.checkWrites(ctx)}, {CheckClock, n.checkClock()},
	}
}

func (n *Node) checkRuns() error {
	select {
	case <-n.ready:
		return nil
	default:
		return ErrNotRunning
	}
}

func (n *Node) checkNetwork() error {
	net, err := n.network()
	if err != nil {
		return err
	}
	if len(n.cfg.Listen) > 0 && len(net.host.Network().ListenAddresses()) == 0 {
		return fmt.Errorf("%w on any of %v", ErrListen, n.cfg.Listen)
	}
	return nil
}

// localProbe is a local value that never is: deleting it tells whether the
// store can be written.
const localProbe = "probe"

func (n *Node) checkWrites(ctx context.Context) error {
	if n.store.Failing() != nil {
		// It may be over, and nobody has tried.
		_ = n.store.SetLocal(ctx, localProbe, nil)
	}
	err := n.store.Failing()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrFull):
		return fmt.Errorf("%w: nothing is stored, neither of this machine nor of the fleet, until there is room", err)
	}
	return fmt.Errorf("%w: nothing is stored, neither of this machine nor of the fleet", err)
}

func (n *Node) checkClock() error {
	clock := n.store.Clock()
	if ahead := clock.Drift(clock.Last()); ahead > hlc.DriftMax {
		return fmt.Errorf("this machine's clock is %s behind what it has stamped: nothing can be written here until it is set, or has caught up", ahead.Round(time.Second))
	}
	return nil
}

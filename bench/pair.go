package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
)

// loopback keeps every measurement on this machine.
var loopback = []string{"/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1"}

// memorySection is where the measurements write.
var memorySection = merge.Section{Family: "memory"}

// running is a node at work.
type running struct {
	*node.Node
	stop context.CancelFunc
	done chan error
}

// start opens the instance in a directory and runs it until stopped.
func start(ctx context.Context, dir string) (*running, error) {
	cfg := node.DefaultConfig()
	cfg.Dir, cfg.Listen = dir, loopback
	n, err := node.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	r := &running{Node: n, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- n.Run(ctx) }()
	select {
	case <-n.Ready():
		return r, nil
	case err := <-r.done:
		stop()
		return nil, errors.Join(err, n.Close())
	}
}

func (r *running) end() error {
	r.stop()
	return errors.Join(<-r.done, r.Close())
}

// fill writes n memory items from 64 goroutines and returns how long it took.
func (r *running) fill(ctx context.Context, n int) (time.Duration, error) {
	began := time.Now()
	err := together(64, n, func(int) error {
		_, err := r.State().Memory().Write(ctx, state.MemoryItem{Kind: "fact", Content: string(text(valueBytes))})
		return err
	})
	return time.Since(began), err
}

// await waits until the node holds n memory items.
func (r *running) await(n int) error {
	patience := 2*time.Minute + time.Duration(n)*time.Millisecond
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if r.Store().State(memorySection).Count >= int64(n) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("only %d of %d records came in %s", r.Store().State(memorySection).Count, n, patience)
}

// founder starts a fleet of one.
func founder(ctx context.Context, dir string) (*running, error) {
	dir = filepath.Join(dir, "a")
	if _, err := node.Init(ctx, node.InitConfig{Dir: dir, Name: "a", Listen: loopback}); err != nil {
		return nil, err
	}
	return start(ctx, dir)
}

// joiner makes another member of a's fleet, without starting it.
func joiner(ctx context.Context, a *running, dir, name string) (string, error) {
	invited, err := a.Invite(ctx, fleet.InvitationConfig{})
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, name)
	_, err = node.Join(ctx, node.JoinConfig{Dir: dir, Ticket: invited.Ticket, Name: name, Listen: loopback})
	return dir, err
}

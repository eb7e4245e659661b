package node_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// benchNode runs an instance.
func benchNode(b *testing.B, dir string) *node.Node {
	b.Helper()
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		b.Fatal(err)
	}
	n, err := node.New(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := n.Close(); err != nil {
			b.Error(err)
		}
	})
	go func() {
		if err := n.Run(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	}()
	<-n.Ready()
	return n
}

func benchFounder(b *testing.B) *node.Node {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "a")
	if _, err := node.Init(b.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: loopback()}); err != nil {
		b.Fatal(err)
	}
	return benchNode(b, dir)
}

func benchJoin(b *testing.B, a *node.Node, name string) string {
	b.Helper()
	invited, err := a.Invite(b.Context(), fleet.InvitationConfig{})
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), name)
	if _, err := node.Join(b.Context(), node.JoinConfig{Dir: dir, Ticket: invited.Ticket, Name: name, Listen: loopback()}); err != nil {
		b.Fatal(err)
	}
	return dir
}

func benchFill(b *testing.B, n *node.Node, records int) {
	b.Helper()
	var group errgroup.Group
	const writers = 64
	text := strings.Repeat("what an agent learned, in a few words. ", 26)
	for range writers {
		group.Go(func() error {
			for range (records + writers - 1) / writers {
				if _, err := n.State().Memory().Write(b.Context(), state.MemoryItem{Kind: "fact", Content: text}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

// benchWait waits, from event to event, until a node holds what another one does.
func benchWait(b *testing.B, from, to *node.Node) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	defer cancel()
	for {
		var seen uint64
		err := to.Store().View(func(r *store.Reader) (err error) {
			seen, err = r.EventHead()
			return err
		})
		if err == nil && to.Root() != from.Root() {
			err = to.Store().AwaitEvent(ctx, seen)
		} else if err == nil {
			return
		}
		if err != nil {
			b.Fatal("not equal: ", err)
		}
	}
}

// BenchmarkColdJoin fetches 10,000 records of 1 KB into an empty node, every
// signature checked, both nodes in this process.
func BenchmarkColdJoin(b *testing.B) {
	const records = 10_000
	a := benchFounder(b)
	benchFill(b, a, records)
	var spent time.Duration
	for b.Loop() {
		dir := benchJoin(b, a, "b"+time.Now().Format("150405.000000"))
		began := time.Now()
		n := benchNode(b, dir)
		benchWait(b, a, n)
		spent += time.Since(began)
		if err := n.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(records)*float64(b.N)/spent.Seconds(), "records/s")
}

// BenchmarkGossipRoundTrip writes on one node until the other has it.
func BenchmarkGossipRoundTrip(b *testing.B) {
	a := benchFounder(b)
	n := benchNode(b, benchJoin(b, a, "b"))
	benchWait(b, a, n)
	for b.Loop() {
		if _, err := a.State().Memory().Write(b.Context(), state.MemoryItem{Kind: "fact", Content: "news"}); err != nil {
			b.Fatal(err)
		}
		benchWait(b, a, n)
	}
}

// BenchmarkBurst writes 10,000 records with 64 writers on one node until the
// other has all.
func BenchmarkBurst(b *testing.B) {
	const records = 10_000
	a := benchFounder(b)
	n := benchNode(b, benchJoin(b, a, "b"))
	benchWait(b, a, n)
	var spent time.Duration
	for b.Loop() {
		began := time.Now()
		benchFill(b, a, records)
		benchWait(b, a, n)
		spent += time.Since(began)
	}
	b.ReportMetric(float64(records)*float64(b.N)/spent.Seconds(), "records/s")
}

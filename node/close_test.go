package node_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// stuckDisk is a disk that may fail, and whose engine closes when it is released.
type stuckDisk struct {
	brokenDisk
	released chan struct{}
}

func (d stuckDisk) Close() error {
	<-d.released
	return d.Engine.Close()
}

// TestClosingAStoreThatHangsEnds soon when it has failed, and in a minute
// otherwise.
func TestClosingAStoreThatHangsEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		fails bool
		took  time.Duration
		want  string
	}{
		"one that failed": {true, 5 * time.Second, "did not close within 5s, since it had failed: input/output error"},
		"one that hangs":  {false, time.Minute, "did not close within 1m0s: its disk does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a")
			synctest.Test(t, func(t *testing.T) {
				if _, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: loopback(), StoreKind: node.StoreMemory}); err != nil {
					t.Fatal(err)
				}
				cfg, err := node.ReadConfig(dir)
				if err != nil {
					t.Fatal(err)
				}
				var fails atomic.Bool
				disk := stuckDisk{brokenDisk{store.NewMemory(), &fails}, make(chan struct{})}
				cfg.Engine = disk
				n, err := node.New(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				if fails.Store(tt.fails); tt.fails {
					if _, err := n.State().Memory().Write(t.Context(), state.MemoryItem{Content: "lost"}); !errors.Is(err, errBroken) {
						t.Fatalf("a write gives %v", err)
					}
				}
				begun := time.Now()
				err = n.Close()
				if took := time.Since(begun); took != tt.took || !errors.Is(err, node.ErrNotClosed) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("after %s: %v", took, err)
				}
				if again := n.Close(); !errors.Is(again, node.ErrNotClosed) {
					t.Errorf("closed again: %v", again)
				}
				close(disk.released)
				synctest.Wait()
			})
		})
	}
}

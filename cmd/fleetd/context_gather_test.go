package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
)

// daemonOf serves what a daemon answers, and returns a program that asks it.
func daemonOf(t *testing.T, handler http.HandlerFunc) *app {
	t.Helper()
	dir, err := os.MkdirTemp("", "context") //nolint:usetesting // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, "fleetd.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // it ends with the test
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
		_ = os.RemoveAll(dir)
	})
	return &app{env: []string{"FLEETD_DIR=" + dir}}
}

// largeStore answers with a full list of global memory, and for a scope with one
// item of it, which takes as long as it is told.
func largeStore(scoped time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var answer any = wire.SkillReport{}
		switch query := r.URL.Query(); {
		case r.URL.Path == "/v1/status":
			answer = wire.Status{InSync: true}
		case r.URL.Path == "/v1/memory" && query.Has("project"):
			select {
			case <-time.After(scoped):
			case <-r.Context().Done():
			}
			answer = wire.MemoryList{Items: []wire.MemoryItem{{ID: "of " + query.Get("project"), Scope: wire.Scope{Project: query.Get("project")}}}}
		case r.URL.Path == "/v1/memory":
			var list wire.MemoryList
			for i := range contextItemsMax {
				list.Items = append(list.Items, wire.MemoryItem{ID: fmt.Sprint("m", i)})
			}
			answer = list
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // whoever asked may be gone
	}
}

func TestWhatIsLackingOfAScopeIsAskedForByItself(t *testing.T) {
	known, err := daemonOf(t, largeStore(0)).gather(t.Context(), "site", 100)
	if err != nil || len(known.own.memory) != 1 || known.own.memory[0].ID != "of site" || len(known.global.memory) != contextItemsMax {
		t.Errorf("got %+v, %v", known, err)
	}
}

func TestWhatTakesLongIsDoneWithout(t *testing.T) {
	known, err := daemonOf(t, largeStore(time.Minute)).gather(t.Context(), "site", 100)
	if err != nil || len(known.own.memory) != 0 || len(known.global.memory) != contextItemsMax {
		t.Errorf("got %+v, %v", known, err)
	}
}

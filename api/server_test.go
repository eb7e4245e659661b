package api_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// socketPath returns a path that is short enough on every system.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "api") //nolint:usetesting // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	listener, err := api.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// serve runs the API of a backend, and returns a client of it and what stops it.
func serve(t *testing.T, b api.Backend) (c *client.Client, stop func()) {
	t.Helper()
	path := socketPath(t)
	listener := listen(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.Serve(ctx, listener, api.NewHandler(b, api.Config{}), nil) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(stop)
	c = client.New(path)
	t.Cleanup(c.Close)
	return c, stop
}

func TestListen(t *testing.T) {
	t.Run("the socket is its owner's alone", func(t *testing.T) {
		path := socketPath(t)
		listen(t, path)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %#o, want 0600", info.Mode().Perm())
		}
	})
	t.Run("a live socket is left alone", func(t *testing.T) {
		path := socketPath(t)
		listen(t, path)
		if _, err := api.Listen(t.Context(), path); !errors.Is(err, api.ErrListening) {
			t.Errorf("got %v, want ErrListening", err)
		}
		if conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path); err != nil {
			t.Errorf("the first listener is gone: %v", err)
		} else {
			_ = conn.Close()
		}
	})
	t.Run("a stale socket is taken over", func(t *testing.T) {
		path := socketPath(t)
		first, isUnix := listen(t, path).(*net.UnixListener)
		if !isUnix {
			t.Fatal("not a Unix listener")
		}
		first.SetUnlinkOnClose(false) // what kill -9 leaves behind
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		listen(t, path)
	})
	t.Run("a file that is no socket is kept", func(t *testing.T) {
		path := socketPath(t)
		if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := api.Listen(t.Context(), path); err == nil {
			t.Error("Listen took the place of a file")
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
			t.Errorf("the file holds %q, %v", text, err)
		}
	})
}

func TestServeStopsAndRemovesItsSocket(t *testing.T) {
	b := newBackend(t)
	c, stop := serve(t, b)
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := c.Status(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("got %v, want ErrNotRunning", err)
	}
}

// slow answers a status after it was told that the server stops.
type slow struct {
	*backend
	began   chan struct{}
	release chan struct{}
}

func (s slow) Status(ctx context.Context) (wire.Status, error) {
	close(s.began)
	<-s.release
	return wire.Status{Name: "slow"}, ctx.Err()
}

func TestARunningRequestIsAnsweredBeforeTheStop(t *testing.T) {
	s := slow{newBackend(t), make(chan struct{}), make(chan struct{})}
	path := socketPath(t)
	listener := listen(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- api.Serve(ctx, listener, api.NewHandler(s, api.Config{}), nil) }()
	c := client.New(path)
	defer c.Close()
	answered := make(chan error, 1)
	go func() {
		status, err := c.Status(context.WithoutCancel(ctx))
		if err == nil && status.Name != "slow" {
			err = errors.New("another status")
		}
		answered <- err
	}()
	<-s.began
	cancel()
	close(s.release)
	if err := <-answered; err != nil {
		t.Errorf("the request got %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestAnotherUserIsDenied(t *testing.T) {
	if err := api.AllowUser(1000, 1000); err != nil {
		t.Errorf("the own user: %v", err)
	}
	if err := api.AllowUser(0, 1000); err != nil {
		t.Errorf("root: %v", err)
	}
	var p *wire.Problem
	if err := api.AllowUser(1001, 1000); !errors.As(err, &p) || p.Code != wire.CodeDenied {
		t.Errorf("another user: %v, want a problem of code denied", err)
	}
}

func TestTheClientSpeaksToTheServer(t *testing.T) {
	b := newBackend(t)
	c, _ := serve(t, b)
	ctx := t.Context()
	scope := wire.Scope{Project: "web/shop?", Workspace: "a b"}
	for _, id := range []string{"...", "a/b", "50%", "技能"} {
		written, err := c.WriteMemory(ctx, wire.MemoryWrite{ID: id, Kind: "fact", Content: "<&>\r\n", Scope: scope})
		if err != nil {
			t.Fatalf("%q: %v", id, err)
		}
		got, err := c.Memory(ctx, id, &scope)
		if err != nil || got.Content != "<&>\r\n" || got.UpdatedHLC != written.UpdatedHLC {
			t.Errorf("%q gave %+v, %v", id, got, err)
		}
		if err := c.DeleteMemory(ctx, id, &scope); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	if items, err := b.state.Memory().Recall(ctx, state.RecallQuery{}); err != nil || len(items) != 0 {
		t.Errorf("left over: %v, %v", items, err)
	}
}

func TestTheClientTellsWhatTheServerRefuses(t *testing.T) {
	b := newBackend(t)
	c, _ := serve(t, b)
	ctx := t.Context()
	if _, err := c.PutSkill(ctx, "deploy", wire.SkillWrite{Body: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteSkill(ctx, "deploy", nil); err != nil {
		t.Error(err)
	}
	var p *wire.Problem
	if _, err := c.Skill(ctx, "deploy", nil); !errors.As(err, &p) || p.Code != wire.CodeNotFound {
		t.Errorf("a deleted skill: %v", err)
	}
	if _, err := c.WriteMemory(ctx, wire.MemoryWrite{Content: "a\xff"}); !errors.As(err, &p) || p.Code != wire.CodeInvalid {
		t.Errorf("text that is not UTF-8: %v", err)
	}
	if health, err := c.Ready(ctx); err != nil || !health.OK {
		t.Errorf("ready: %+v, %v", health, err)
	}
	b.err = errors.New("starting")
	if health, err := c.Ready(ctx); err != nil || health.OK {
		t.Errorf("not ready: %+v, %v", health, err)
	}
}

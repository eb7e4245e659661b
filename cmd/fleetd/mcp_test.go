package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// machine is a data directory with a daemon that is a process of its own.
type machine struct {
	t      *testing.T
	dir    string
	daemon *exec.Cmd
}

// newMachine makes a data directory by init, or by join with a ticket.
func newMachine(t *testing.T, name, ticket string) *machine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the tests send Unix signals")
	}
	base, err := os.MkdirTemp("", "mcp") //nolint:usetesting // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	m := &machine{t: t, dir: filepath.Join(base, name)}
	how := []string{"init"}
	if ticket != "" {
		how = []string{"join", ticket}
	}
	m.run(append(how, "--name", name, "--listen", "/ip4/127.0.0.1/tcp/0")...)
	t.Cleanup(m.stop)
	return m
}

// command is the real program on the data directory.
func (m *machine) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(m.t.Context()), "fleetd", append(args, "--dir", m.dir)...) //nolint:gosec // a test names them
	// Under the race detector every command would wait a second before it ends.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, err := m.command(args...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			m.t.Fatalf("fleetd %v: %v\n%s", args, err, exit.Stderr)
		}
		m.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// start starts the daemon, and waits until it is ready.
func (m *machine) start() {
	m.t.Helper()
	m.daemon = m.command("run", "--heartbeat", "200ms")
	if err := m.daemon.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.run("wait", "ready")
}

// stop interrupts the daemon, and waits for its end.
func (m *machine) stop() {
	if m.daemon == nil {
		return
	}
	_ = m.daemon.Process.Signal(os.Interrupt) // it may have ended
	_ = m.daemon.Wait()                       // how it ended is not the point
	m.daemon = nil
}

// agent connects a client of the SDK over the standard input and output of a real
// fleetd mcp.
func (m *machine) agent(how *sdk.ClientSessionOptions, client *sdk.ClientOptions, args ...string) *sdk.ClientSession {
	m.t.Helper()
	cmd := m.command(append([]string{"mcp"}, args...)...)
	var notes bytes.Buffer
	cmd.Stderr = &notes
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, client).
		Connect(m.t.Context(), &sdk.CommandTransport{Command: cmd}, how)
	if err != nil {
		m.t.Fatalf("connect: %v", err)
	}
	m.t.Cleanup(func() {
		if err := session.Close(); err != nil {
			m.t.Errorf("fleetd mcp ended with %v: %s", err, notes.String())
		}
	})
	return session
}

// ask calls a tool that has to succeed, and returns its structured content.
func ask(t *testing.T, a *sdk.ClientSession, tool string, args map[string]any) map[string]any {
	t.Helper()
	res, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	raw, err := json.Marshal(res.Content)
	if err != nil || res.IsError {
		t.Fatalf("%s: %v %s", tool, err, raw)
	}
	structured, _ := res.StructuredContent.(map[string]any)
	return structured
}

// listed counts the items that the pages of memory_list have.
func listed(t *testing.T, a *sdk.ClientSession) (n int) {
	t.Helper()
	in := map[string]any{"limit": 200}
	for {
		page := ask(t, a, "memory_list", in)
		items, _ := page["items"].([]any)
		n += len(items)
		if page["more"] != true {
			return n
		}
		in["cursor"] = page["next_cursor"]
	}
}

// TestTwoAgentsWriteAtOnce lets 20 writers write 50 items each through two
// proxies: all are there, for both.
func TestTwoAgentsWriteAtOnce(t *testing.T) {
	m := newMachine(t, "desk", "")
	m.start()
	agents := []*sdk.ClientSession{m.agent(nil, nil), m.agent(nil, nil, "--tools", "memory")}
	const writers, writes = 20, 50
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range writes {
				res, err := agents[w%2].CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_write", Arguments: map[string]any{
					"id": fmt.Sprintf("writer %d item %d", w, i), "content": fmt.Sprintf("written by %d", w),
				}})
				if err != nil || res.IsError {
					t.Errorf("writer %d: %v %v", w, err, res)
					return
				}
			}
		})
	}
	wait.Wait()
	for _, a := range agents {
		if got := listed(t, a); got != writers*writes {
			t.Errorf("%d items, want %d", got, writers*writes)
		}
		for w := range writers {
			id := fmt.Sprintf("writer %d item %d", w, writes-1)
			if got := ask(t, a, "memory_get", map[string]any{"id": id}); got["writer"] != "desk" {
				t.Errorf("%s: %v", id, got)
			}
		}
	}
}

// TestAProxyOutlivesTheDaemon restarts the daemon under a live session, by both
// kinds of protocol. The subscription goes on.
func TestAProxyOutlivesTheDaemon(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			m := newMachine(t, "desk", "")
			m.start()
			updated := make(chan string, 1000)
			a := m.agent(&sdk.ClientSessionOptions{ProtocolVersion: version}, &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
			})
			if err := a.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "memory://m"}); err != nil {
				t.Fatal(err)
			}
			ask(t, a, "memory_write", map[string]any{"id": "m", "content": "before"})
			for range 2 {
				m.stop()
				// What is asked meanwhile is answered by the next daemon.
				answered := make(chan error, 1)
				go func() {
					res, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_get", Arguments: map[string]any{"id": "m"}})
					if err == nil && res.IsError {
						err = errors.New("it is an error")
					}
					answered <- err
				}()
				m.start()
				if err := <-answered; err != nil {
					t.Fatalf("a call while the daemon was away: %v", err)
				}
				for drained := false; !drained; {
					select {
					case <-updated:
					default:
						drained = true
					}
				}
				for noticed := false; !noticed; {
					ask(t, a, "memory_write", map[string]any{"id": "m", "content": "after"})
					select {
					case uri := <-updated:
						noticed = uri == "memory://m"
					default:
					}
				}
			}
		})
	}
}

// TestACallThatWasUnderWaySaysSo kills the daemon while calls are made.
func TestACallThatWasUnderWaySaysSo(t *testing.T) {
	m := newMachine(t, "desk", "")
	m.start()
	a := m.agent(nil, nil)
	var wait sync.WaitGroup
	var mu sync.Mutex
	acknowledged, lost := map[string]bool{}, 0
	for w := range 8 {
		wait.Go(func() {
			for i := range 60 {
				id := fmt.Sprintf("%d-%d", w, i)
				res, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_write", Arguments: map[string]any{"id": id, "content": "x"}})
				var refused *jsonrpc.Error
				mu.Lock()
				switch {
				case err == nil && !res.IsError:
					acknowledged[id] = true
				case errors.As(err, &refused) && refused.Code == -32000 && strings.Contains(refused.Message, "look before you repeat it"):
					lost++
				default:
					t.Errorf("%s: %v %v", id, err, res)
				}
				mu.Unlock()
			}
		})
	}
	if err := m.daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = m.daemon.Wait() // it was killed
	m.start()
	wait.Wait()
	for id := range acknowledged {
		ask(t, a, "memory_get", map[string]any{"id": id})
	}
	if len(acknowledged)+lost != 8*60 {
		t.Errorf("%d acknowledged and %d lost", len(acknowledged), lost)
	}
	t.Logf("%d of %d calls were under way", lost, 8*60)
}

// TestProvenanceOfTwoMachines reads on one machine what was written on another,
// and is told there when it changes.
func TestProvenanceOfTwoMachines(t *testing.T) {
	desk := newMachine(t, "desk", "")
	desk.start()
	laptop := newMachine(t, "laptop", desk.run("invite"))
	laptop.start()
	written := ask(t, desk.agent(nil, nil), "memory_write", map[string]any{"content": "port 5432 is taken"})
	laptop.run("wait", "converged")
	a := laptop.agent(nil, nil, "--read-only")
	got := ask(t, a, "memory_get", map[string]any{"id": written["id"]})
	if got["writer"] != "desk" || got["writer_id"] != written["writer_id"] || got["written_at"] != written["written_at"] || got["content"] != "port 5432 is taken" {
		t.Errorf("on laptop: %v", got)
	}
	updated := make(chan string, 100)
	watcher := laptop.agent(&sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	})
	uri := fmt.Sprintf("memory://%v", written["id"])
	if err := watcher.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	ask(t, desk.agent(nil, nil), "memory_write", map[string]any{"id": written["id"], "content": "port 5432 is free again"})
	if got := <-updated; got != uri {
		t.Errorf("notice of %s, want %s", got, uri)
	}
	status := ask(t, a, "fleet_status", nil)
	if members, _ := status["members"].([]any); status["name"] != "laptop" || len(members) != 2 {
		t.Errorf("status: %v", status)
	}
}

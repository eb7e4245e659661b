package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// remember writes a memory item.
func remember(t *testing.T, b *backend, id, content string, scope state.Scope) {
	t.Helper()
	if _, err := b.state.Memory().Write(t.Context(), state.MemoryItem{ID: id, Content: content, Scope: scope}); err != nil {
		t.Fatal(err)
	}
}

// take reads so many events.
func take(t *testing.T, events iter.Seq2[wire.Event, error], n int) []wire.Event {
	t.Helper()
	var taken []wire.Event
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if taken = append(taken, e); len(taken) == n {
			break
		}
	}
	return taken
}

func keysOf(events []wire.Event) []string {
	keys := make([]string, len(events))
	for i, e := range events {
		keys[i] = e.Type + " " + e.Key
	}
	return keys
}

func watching(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// writeEveryKind makes six events.
func writeEveryKind(t *testing.T, b *backend, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	remember(t, b, "m", "text", state.Scope{Project: "p"})
	if _, err := c.PutSkill(ctx, "s", wire.SkillWrite{Body: "b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RecordOutcome(ctx, "s", nil, true); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateSession(ctx, wire.SessionWrite{ID: "talk"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AppendTurn(ctx, "talk", wire.TurnWrite{ID: "a/b", Role: "user", Content: "hi"}); err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteMemory(ctx, "m", nil); err != nil {
		t.Fatal(err)
	}
}

// checkImages looks at what the six events show.
func checkImages(t *testing.T, events []wire.Event) {
	t.Helper()
	if e := events[0]; e.Type != state.EvMemoryWritten || e.Memory == nil || e.Memory.Content != "text" || e.Scope.Project != "p" {
		t.Errorf("memory %+v", e)
	}
	if e := events[1]; e.Skill == nil || *e.Skill.Body != "b" {
		t.Errorf("skill %+v", e)
	}
	if e := events[2]; e.Outcome == nil || e.Key != "s/"+e.Outcome.StoreID {
		t.Errorf("outcome %+v", e)
	}
	if e := events[4]; e.Turn == nil || e.Turn.Content != "hi" || e.Key != "talk/a%2Fb" {
		t.Errorf("turn %+v", e)
	}
	if e := events[5]; e.Type != state.EvMemoryDeleted || !e.Deleted || e.Key != "m" {
		t.Errorf("deleted %+v", e)
	}
}

func TestAWatcherSeesWhatHappened(t *testing.T) {
	b := newBackend(t)
	c, _ := serve(t, b)
	ctx := watching(t)
	writeEveryKind(t, b, c)
	events := take(t, c.Watch(ctx, "", wire.EventFilter{}), 6)
	kinds := []string{}
	for _, e := range events {
		kinds = append(kinds, e.Kind)
		if e.SchemaVersion != wire.SchemaVersion || e.Position == "" || e.Path != "local" || e.LastWriterID != "local" || e.UpdatedHLC == "" || e.Time.IsZero() {
			t.Errorf("event %+v lacks something", e)
		}
	}
	if diff := cmp.Diff([]string{"memory", "skill", "skill.outcome", "session", "session.turn", "memory"}, kinds); diff != "" {
		t.Fatalf("kinds (-want +got):\n%s", diff)
	}
	checkImages(t, events)
	only := take(t, c.Watch(ctx, "", wire.EventFilter{Kind: "memory", Scope: &wire.Scope{Project: "p"}}), 2)
	if diff := cmp.Diff([]string{"memory.written m", "memory.deleted m"}, keysOf(only)); diff != "" {
		t.Errorf("of one kind and scope (-want +got):\n%s", diff)
	}
}

// What came from another machine is seen like what was written here, with where it
// came from.
func TestAWatcherSeesWhatWasMerged(t *testing.T) {
	a, b, _ := inConflict(t)
	backend := newBackend(t)
	backend.state = a
	c, _ := serve(t, backend)
	if _, err := b.Memory().Write(t.Context(), state.MemoryItem{ID: "far", Content: "from b"}); err != nil {
		t.Fatal(err)
	}
	exchanged := false
	for e, err := range c.Watch(watching(t), "", wire.EventFilter{Kind: "memory"}) {
		if err != nil {
			t.Fatal(err)
		}
		if !exchanged {
			exchanged = true
			exchange(t, a, b)
		}
		if e.Key == "far" {
			if e.Path != "feed" || e.LastWriterID != "b" || e.Memory == nil || e.Memory.Content != "from b" {
				t.Errorf("event %+v", e)
			}
			return
		}
	}
}

func TestAWatcherGoesOnWhereItWas(t *testing.T) {
	b := newBackend(t)
	c, _ := serve(t, b)
	ctx := watching(t)
	var want []string
	for i := range 20 {
		id := fmt.Sprintf("m%02d", i)
		remember(t, b, id, "x", state.Scope{})
		want = append(want, "memory.written "+id)
	}
	var got []wire.Event
	at := ""
	for i := range 8 {
		some := take(t, c.Watch(ctx, at, wire.EventFilter{}), 3)
		got, at = append(got, some...), some[len(some)-1].Position
		id := fmt.Sprintf("late%d", i)
		remember(t, b, id, "x", state.Scope{})
		want = append(want, "memory.written "+id)
	}
	if diff := cmp.Diff(want[:len(got)], keysOf(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	number, _, _ := strings.Cut(got[4].Position, "-")
	if again := take(t, c.Watch(ctx, number, wire.EventFilter{}), 1); again[0].Position != got[5].Position {
		t.Errorf("after the number %s comes %s, want %s", number, again[0].Position, got[5].Position)
	}
}

func TestAWatcherOfNowSeesWhatComes(t *testing.T) {
	b := newBackend(t)
	path := socketPath(t)
	stop := serveAt(t, path, b)
	defer stop()
	for i := range 9 {
		remember(t, b, strconv.Itoa(i), "x", state.Scope{})
	}
	lines := rawWatch(t, path, "/v1/watch?after=now")
	for line := range lines {
		if strings.HasPrefix(line, "id: ") {
			remember(t, b, "new", "x", state.Scope{})
			break
		}
	}
	for line := range lines {
		if data, isData := strings.CutPrefix(line, "data: "); isData {
			if !strings.Contains(data, `"key":"new"`) {
				t.Errorf("the first event is %s", data)
			}
			return
		}
	}
	t.Error("no event came")
}

// serveAt serves a backend on a socket, and returns what stops it.
func serveAt(t *testing.T, path string, b api.Backend) (stop func()) {
	t.Helper()
	listener, err := api.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- api.Serve(ctx, listener, api.NewHandler(b, api.Config{Heartbeat: 50 * time.Millisecond}), nil)
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
}

// rawWatch yields the lines of a stream.
func rawWatch(t *testing.T, path, target string) iter.Seq[string] {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: fleetd\r\n\r\n", target); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	return func(yield func(string) bool) {
		for lines.Scan() {
			if !yield(lines.Text()) {
				return
			}
		}
	}
}

// The daemon goes and comes back, with the same store; what was written
// meanwhile is seen too, and nothing twice.
func TestAWatcherOutlivesTheDaemon(t *testing.T) {
	b := newBackend(t)
	path := socketPath(t)
	stop := serveAt(t, path, b)
	c := client.New(path)
	defer c.Close()
	var want, got []string
	write := func() {
		id := fmt.Sprintf("m%d", len(want))
		remember(t, b, id, "x", state.Scope{})
		want = append(want, "memory.written "+id)
	}
	write()
	for e, err := range c.Watch(watching(t), "", wire.EventFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e.Type+" "+e.Key); len(got) == 5 {
			break
		}
		write()
		if len(got)%2 == 1 {
			stop()
			write()
			stop = serveAt(t, path, b)
		}
	}
	stop()
	if diff := cmp.Diff(want[:5], got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAPositionOfNoneOfThisStoreResets(t *testing.T) {
	b := newBackend(t)
	c, _ := serve(t, b)
	ctx := watching(t)
	for i := range 3 {
		remember(t, b, strconv.Itoa(i), "x", state.Scope{})
	}
	last := take(t, c.Watch(ctx, "", wire.EventFilter{}), 3)[2].Position
	for name, after := range map[string]string{
		"of another store":     "1-01234567",
		"beyond the end":       "17",
		"far beyond the end":   "9223372036854775807",
		"of a store of nobody": "0-01234567",
	} {
		t.Run(name, func(t *testing.T) {
			var events []wire.Event
			for e, err := range c.Watch(watching(t), after, wire.EventFilter{}) {
				if err != nil {
					t.Fatal(err)
				}
				if events = append(events, e); len(events) == 2 {
					break
				}
				remember(t, b, "next", name, state.Scope{})
			}
			if reset := events[0]; reset.Type != wire.EventReset || reset.Reason == "" || reset.Position < last {
				t.Errorf("got %+v, want a reset", reset)
			}
			if events[1].Memory == nil || events[1].Memory.Content != name {
				t.Errorf("after the reset came %+v", events[1])
			}
		})
	}
	for _, after := range []string{"-1", "x", "1-", "1.5", "NOW", "99999999999999999999"} {
		var problem *wire.Problem
		for _, err := range c.Watch(ctx, after, wire.EventFilter{}) {
			if !errors.As(err, &problem) || problem.Code != wire.CodeInvalid {
				t.Errorf("%q: %v, want a problem", after, err)
			}
		}
	}
}

func TestAWatcherEndsWithTheDaemonAndItsContext(t *testing.T) {
	b := newBackend(t)
	path := socketPath(t)
	stop := serveAt(t, path, b)
	remember(t, b, "m", "x", state.Scope{})
	var said []string
	stopped := false
	for line := range rawWatch(t, path, "/v1/watch?kind=skill") {
		said = append(said, line)
		// What the filter leaves out moves the position all the same.
		if slices.ContainsFunc(said, func(before string) bool { return strings.HasPrefix(before, "id: 1-") }) && line == ":" && !stopped {
			stopped = true
			go stop()
		}
	}
	if !slices.Contains(said, "event: end") || !slices.Contains(said, ":") {
		t.Errorf("the stream said %q, want heartbeats and an end", said)
	}

	c, _ := serve(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range c.Watch(ctx, "", wire.EventFilter{}) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the last error is %v, want that of the context", last)
	}
	gone := client.New(socketPath(t))
	for _, err := range gone.Watch(t.Context(), "", wire.EventFilter{}) {
		if !errors.Is(err, client.ErrNotRunning) {
			t.Errorf("without a daemon: %v", err)
		}
	}
}

// A watcher that reads nothing keeps nobody from writing: what it has not read is
// in the store, and nowhere else.
func TestAWatcherThatReadsNothingHoldsUpNobody(t *testing.T) {
	b := newBackend(t)
	path := socketPath(t)
	stop := serveAt(t, path, b)
	lines := rawWatch(t, path, "/v1/watch")
	for line := range lines {
		if line == "" {
			break
		}
	}
	big := strings.Repeat("x", 1<<20)
	for i := range 30 {
		remember(t, b, strconv.Itoa(i), big, state.Scope{})
	}
	stop() // it fails when something has to be cut off
}

func TestAWatchIsRefusedLikeOtherRequests(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for range 300 { // a refused one takes no room, and the headers alone end
		if a := ask(t, h, "HEAD", "/v1/watch", ""); a.status != http.StatusOK {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		refused(t, ask(t, h, "GET", "/v1/watch?after=x", ""), wire.CodeInvalid)
	}
	refused(t, ask(t, h, "GET", "/v1/watch?kinds=x", ""), wire.CodeBadRequest)
	refused(t, ask(t, h, "GET", "/v1/watch?after=x", ""), wire.CodeInvalid)
	refused(t, askWith(t, h, "GET", "/v1/watch", "", http.Header{"Last-Event-Id": {"x"}}), wire.CodeInvalid)
	refused(t, ask(t, h, "POST", "/v1/watch", `{}`), wire.CodeMethod)
}

func TestStreamsAreBounded(t *testing.T) {
	b := newBackend(t)
	path := socketPath(t)
	stop := serveAt(t, path, b)
	defer stop()
	for range 256 {
		for line := range rawWatch(t, path, "/v1/watch") {
			if strings.HasPrefix(line, "id: ") {
				break
			}
		}
	}
	c := client.New(path)
	defer c.Close()
	var problem *wire.Problem
	for _, err := range c.Watch(watching(t), "", wire.EventFilter{}) {
		if !errors.As(err, &problem) || problem.Code != wire.CodeUnavailable {
			t.Errorf("one more: %v", err)
		}
	}
}

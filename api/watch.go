package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/eventlog"
)

// watch serves /v1/watch: the state stream as server-sent events.
type watch struct {
	backend Backend
	// heartbeat is how often a silent stream shows that it lives.
	heartbeat time.Duration
	// room has one entry for each stream that there is.
	room chan struct{}
}

// eventStream is the media type of server-sent events.
const eventStream = "text/event-stream"

func (s watch) register(h *handler) {
	// The shape of an event is in the document, though no operation answers with it
	// as JSON.
	schema := h.api.OpenAPI().Components.Schemas.Schema(reflectEvent, true, "")
	register(h, operation{
		route: "GET /v1/watch", id: "watch", tag: "watch", summary: "What happens to records, local or merged, as it happens",
		text: "Server-sent events: the event is the type, the id the position, and the data an Event as JSON. " +
			"To go on without loss or repetition, pass the last id as Last-Event-ID or after. A position that is none of this store " +
			"is answered by an event \"reset\": list anew, and keep what follows. A record that changes often may skip versions " +
			"for who stops for long, never its newest. A stream that the daemon ends says so by an event \"end\"; who reads nothing " +
			"for a minute loses the connection, and resumes. Silence is broken by comments.",
		codes: []wire.Code{wire.CodeInvalid},
		responses: map[string]*huma.Response{"200": {
			Description: "The stream. Each data is an Event.", Content: map[string]*huma.MediaType{eventStream: {Schema: schema}},
		}},
	}, s.get)
}

type watchInput struct {
	Kind string `query:"kind" doc:"Records of this kind alone, such as memory, skill, session, session.turn or skill.outcome."`
	ScopeQuery
	After       string `query:"after" doc:"Begin after this position: the position of an event, a number, or now; at the beginning when absent."`
	LastEventID string `header:"Last-Event-ID" doc:"The same, as browsers send it; it counts before after."`
}

type watchOutput struct{ Body func(huma.Context) }

func (s watch) get(ctx context.Context, in *watchInput) (*watchOutput, error) {
	select {
	case s.room <- struct{}{}:
	default:
		return nil, newProblem(wire.CodeUnavailable, fmt.Sprintf("%d streams are open already: close some", cap(s.room)))
	}
	start, err := s.begin(ctx, cmp.Or(in.LastEventID, in.After))
	if err != nil {
		<-s.room
		return nil, err
	}
	f := eventFilter{kind: in.Kind}
	f.scope, f.scoped = in.scope()
	return &watchOutput{func(answer huma.Context) {
		defer func() { <-s.room }()
		r, w := humago.Unwrap(answer)
		if r.Method == http.MethodHead { // it would wait for what it does not show
			w.Header().Set("Content-Type", eventStream)
			w.WriteHeader(http.StatusOK)
			return
		}
		t := &stream{w: w, control: http.NewResponseController(w), stop: Stopping(ctx), store: start.store, seq: start.seq}
		t.run(ctx, s, start, f)
	}}, nil
}

// eventFilter selects events.
type eventFilter struct {
	kind   string
	scope  state.Scope
	scoped bool
}

func (f eventFilter) keeps(e *wire.Event) bool {
	return (f.kind == "" || f.kind == e.Kind) && (!f.scoped || stateScope(e.Scope) == f.scope)
}

const (
	// watchAhead is how many events a stream reads ahead of its client: more would
	// be memory, since one may hold 8 MiB.
	watchAhead = 4
	// watchersMax is how many streams there may be; each is a connection and three
	// goroutines.
	watchersMax = 256
	// watchWriteTimeout is how long a client may read nothing.
	watchWriteTimeout = time.Minute
	// watchEndTimeout is that of one who has to hear that the daemon stops.
	watchEndTimeout = time.Second
	// watchHeartbeat is how often a silent stream shows that it lives.
	watchHeartbeat = 15 * time.Second
)

// stream is one connection of a watcher.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stop    <-chan struct{}
	store   string
	seq     int64 // of the newest event that was sent, or left out by the filter
	told    int64 // of the newest that the client knows of
}

// watched is what the state says next.
type watched struct {
	event eventlog.Event
	err   error
}

// run sends events until the client goes or the daemon stops. One goroutine
// reads the state and waits while its room is full, so that whoever reads slowly
// holds up nobody else: the state keeps nothing for a watcher.
func (t *stream) run(ctx context.Context, s watch, start beginning, f eventFilter) {
	ctx, cancel := context.WithCancel(ctx)
	events := make(chan watched, watchAhead)
	go func() {
		defer close(events)
		for e, err := range s.backend.State().Watch(ctx, start.seq) {
			select {
			case events <- watched{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		cancel()
		for range events {
		}
	}()
	go func() {
		select {
		case <-t.stop: // a write that waits for the client ends, too
			_ = t.control.SetWriteDeadline(time.Now().Add(watchEndTimeout))
		case <-ctx.Done():
		}
	}()
	header := t.w.Header()
	header.Set("Content-Type", eventStream)
	t.w.WriteHeader(http.StatusOK)
	if t.greet(start) != nil {
		return
	}
	beat := time.NewTicker(s.heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case next, open := <-events:
			if !open || next.err != nil {
				_ = t.end(next.err)
				return
			}
			err = t.send(&next.event, f, s.backend.NameOf)
		case <-beat.C:
			err = t.beat()
		case <-t.stop:
			_ = t.end(nil)
			return
		}
		if err != nil {
			return
		}
	}
}

// greet tells the client where it is, and flushes the header.
func (t *stream) greet(start beginning) error {
	if start.reset == "" {
		t.told = -1
		return t.beat()
	}
	t.told = t.seq
	return t.write(wire.EventReset, &wire.Event{Reason: start.reset, Time: time.Now().UTC()})
}

// send sends one event, unless the filter leaves it out.
func (t *stream) send(e *eventlog.Event, f eventFilter, nameOf func(string) string) error {
	t.seq = e.Seq
	shown := wireEvent(e)
	if !f.keeps(shown) {
		return nil
	}
	t.told = t.seq
	shown.Writer = nameOf(shown.LastWriterID)
	return t.write(e.Type, shown)
}

// beat sends a comment, and the position when events were left out: an id
// without data is no event.
func (t *stream) beat() error {
	text := ":\n\n"
	if t.told != t.seq {
		text = fmt.Sprintf(": at\nid: %s\n\n", positionText(t.seq, t.store))
		t.told = t.seq
	}
	return t.put([]byte(text))
}

// end sends the event that ends a stream.
func (t *stream) end(err error) error {
	reason := "the daemon stops"
	if err != nil && !errors.Is(err, context.Canceled) {
		reason = problemOf(err).Detail
	}
	return t.write(wire.EventEnd, &wire.Event{Reason: reason, Time: time.Now().UTC()})
}

func (t *stream) write(name string, e *wire.Event) error {
	e.SchemaVersion, e.Type, e.Position = wire.SchemaVersion, name, positionText(t.seq, t.store)
	raw, err := json.Marshal(e) // in one line
	if err != nil {
		return fmt.Errorf("api: encode event: %w", err)
	}
	return t.put(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", e.Position, name, raw))
}

func (t *stream) put(raw []byte) error {
	timeout := watchWriteTimeout
	select {
	case <-t.stop:
		timeout = watchEndTimeout
	default:
	}
	// In the place of the server's, which would cut the stream; a writer without
	// deadlines needs no other.
	_ = t.control.SetWriteDeadline(time.Now().Add(timeout))
	if _, err := t.w.Write(raw); err != nil {
		return fmt.Errorf("api: send event: %w", err)
	}
	return t.control.Flush()
}

package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
)

const (
	// retryFirst and retryMax bound how long a watcher waits before it asks anew.
	retryFirst = 100 * time.Millisecond
	retryMax   = 5 * time.Second
	// eventBytesMax bounds one line of a stream: an event of the longest record,
	// with JSON's escapes.
	eventBytesMax = 2*wire.RequestBytesMax + 1<<20
)

// Watch yields what happens to records after a position, in order: that of an
// event (wire.Event.Position), a number, "now", or "" for the beginning. When
// the daemon goes away it asks again, until ctx ends, and goes on after the last
// event. A wire.EventReset says that the position was none of the store: list
// anew, and keep what follows; a wire.EventEnd is not shown. Before the first
// answer any error ends it, and later what the daemon refuses does; the last pair
// is the error, that of ctx too.
func (c *Client) Watch(ctx context.Context, after string, filter wire.EventFilter) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		w := watcher{client: c.patient(), after: after, query: scopeQuery(url.Values{}, filter.Scope)}
		setText(w.query, "kind", filter.Kind)
		wait := retryFirst
		for {
			before := w.heard
			err := w.listen(ctx, yield)
			var problem *wire.Problem
			switch {
			case errors.Is(err, errStopped):
				return
			case ctx.Err() != nil:
				yield(wire.Event{}, fmt.Errorf("client: watch: %w", context.Cause(ctx)))
				return
			case w.heard == 0, errors.As(err, &problem) && problem.Status < http.StatusInternalServerError, errors.Is(err, ErrForeign):
				yield(wire.Event{}, err)
				return
			}
			if w.heard > before {
				wait = retryFirst
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
			wait = min(2*wait, retryMax)
		}
	}
}

// errStopped says that whoever watches wants no more.
var errStopped = errors.New("client: no more events are wanted")

// watcher is the state of one Watch.
type watcher struct {
	client *Client
	query  url.Values
	after  string // where to go on
	heard  int    // answers
}

// listen asks once, and yields what comes until the stream ends. It always
// returns an error.
func (w *watcher) listen(ctx context.Context, yield func(wire.Event, error) bool) error {
	if w.after != "" {
		w.query.Set("after", w.after)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://fleetd/v1/watch?"+w.query.Encode(), nil)
	if err != nil {
		return fmt.Errorf("client: make request: %w", err)
	}
	response, err := w.client.http.Do(request)
	if err != nil {
		return w.client.explain(err)
	}
	defer func() { _ = response.Body.Close() }() // it ended, or is of no use any more
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		err := w.client.read(response, nil)
		if err == nil {
			err = fmt.Errorf("%w: %s: no stream of events", ErrForeign, w.client.socket)
		}
		return err
	}
	w.heard++
	lines := bufio.NewReader(response.Body)
	var data, id []byte
	for {
		line, err := readLine(lines)
		if err != nil {
			return w.client.explain(err)
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if err := w.handle(id, data, yield); err != nil {
				return err
			}
			data, id = nil, nil
		case string(name) == "data":
			data = value
		case string(name) == "id":
			id = value
		}
	}
}

// handle takes one event, or an id without one, as a browser would.
func (w *watcher) handle(id, data []byte, yield func(wire.Event, error) bool) error {
	if data != nil {
		var e wire.Event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrForeign, w.client.socket, err)
		}
		if e.Type != wire.EventEnd && !yield(e, nil) {
			return errStopped
		}
	}
	if id != nil {
		w.after = string(id)
	}
	return nil
}

// readLine reads a line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // no stream ends by itself
			}
			return nil, err
		case len(line) > eventBytesMax:
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrForeign, eventBytesMax)
		}
	}
}

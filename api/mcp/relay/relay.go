package relay

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"
)

// Relay says what to carry between. In and Out are the client's, and used until
// Run returns; a Read of In that is waiting then goes on until In ends.
type Relay struct {
	In  io.Reader
	Out io.Writer
	// Dial makes a session with the daemon. It fails while there is none.
	Dial func(context.Context) (io.ReadWriteCloser, error)
	// ReadOnly says of a tool whether it changes nothing.
	ReadOnly func(tool string) bool
	// Note is told, for people, when the daemon goes away and comes back.
	Note func(text string)
	// LineBytesMax bounds a message, in either direction.
	LineBytesMax int
}

const (
	// retryMin and retryMax bound the pause between two attempts to connect.
	retryMin = 50 * time.Millisecond
	retryMax = 2 * time.Second
	// holdMax is how long messages wait for a daemon that is away. Clients give a
	// call a minute or more.
	holdMax = 30 * time.Second
	// queueMax and queueBytesMax bound what waits; a message more is taken in any
	// case.
	queueMax      = 1024
	queueBytesMax = 64 << 20
	// drainMax is how long calls that are under way may take once the client has
	// said all that it has to.
	drainMax = 30 * time.Second
)

// newline ends a line. A line is copied to be ended, since it may be kept.
var newline = []byte("\n")

// inbound is a line, or why there is none: of one that is too long the id.
type inbound struct {
	line []byte
	err  error
	// from is the connection that it came from; nil for the client.
	from io.ReadWriteCloser
}

// Run carries messages until the client has said all and got its answers, or ctx
// ends; that is no error. conn is the first session with the daemon, and Run
// closes it. Errors: those of Out, and of In but for its end.
func (r *Relay) Run(ctx context.Context, conn io.ReadWriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &session{
		Relay: r, ctx: ctx, fromDaemon: make(chan inbound), dialled: make(chan io.ReadWriteCloser),
		pending: map[string]*request{}, subscriptions: map[string]bool{}, listening: map[string]*listen{}, replays: map[string]func(*message){},
	}
	defer s.workers.Wait()
	defer s.disconnect()
	defer cancel()
	fromClient := make(chan inbound)
	go func() { readLines(ctx, newLineReader(r.In, r.LineBytesMax), nil, fromClient) }()
	s.connect(conn)
	s.ready = true
	return s.loop(fromClient)
}

// readLines sends lines until there are no more, or ctx ends.
func readLines(ctx context.Context, from *lineReader, conn io.ReadWriteCloser, to chan<- inbound) {
	for {
		line, err := from.next()
		select {
		case to <- inbound{line, err, conn}:
		case <-ctx.Done():
			return
		}
		if err != nil && !errors.Is(err, errLineTooLong) {
			return
		}
	}
}

// session is what Run knows. One goroutine owns it.
type session struct {
	*Relay
	ctx        context.Context //nolint:containedctx // it lives as long as Run
	workers    sync.WaitGroup
	fromDaemon chan inbound
	dialled    chan io.ReadWriteCloser

	// conn is the connection with the daemon; nil while there is none. ready says
	// that the session on it has begun as the client's did.
	conn  io.ReadWriteCloser
	ready bool
	// writer takes what is written to the connection, a line at a time, and outbox
	// is what it has not taken yet: to write here would be to stop reading, and the
	// daemon may wait for that.
	writer chan []byte
	outbox queue
	// isGone says that the daemon has been away for so long that nothing waits.
	isGone bool
	hold   *time.Timer

	// pending are the requests of the client that are not answered, by key.
	pending map[string]*request
	// held are lines that wait for the daemon, in their order.
	held queue

	// initialize and initialized are how the client began its session; nil before,
	// and where it uses a protocol without sessions.
	initialize, initialized []byte
	hasBegun                bool // a daemon has accepted that
	subscriptions           map[string]bool
	listening               map[string]*listen
	// replays are the relay's own requests, by key.
	replays map[string]func(*message)
	counted int

	isClosing bool
	failed    error
}

// request is one that the daemon has not answered.
type request struct {
	message
	// line is kept of a request that is sent again to another daemon.
	line []byte
	// isSent says that the daemon may have seen it.
	isSent bool
}

// loop carries until the end.
func (s *session) loop(fromClient <-chan inbound) error {
	s.hold = time.NewTimer(holdMax)
	s.hold.Stop()
	defer s.hold.Stop()
	drain := time.NewTimer(drainMax)
	drain.Stop()
	defer drain.Stop()
	for s.failed == nil {
		if s.isClosing && s.isDrained() {
			return nil
		}
		client := fromClient
		if s.outbox.bytes > queueBytesMax {
			client = nil // the daemon is slow: so is the client
		}
		writer, line := s.next()
		select {
		case writer <- line:
			s.wrote()
		case in := <-client:
			if s.took(in); s.isClosing {
				fromClient = nil
				drain.Reset(drainMax)
			}
		case in := <-s.fromDaemon:
			s.heard(in)
		case conn := <-s.dialled:
			s.begin(conn)
		case <-s.hold.C:
			s.giveUp()
		case <-drain.C:
			return nil
		case <-s.ctx.Done():
			return nil
		}
	}
	return s.failed
}

// took takes a line of the client, or its end.
func (s *session) took(in inbound) {
	switch {
	case errors.Is(in.err, errLineTooLong):
		s.refuseLong(in.line)
	case in.err != nil:
		s.isClosing = true
		if !errors.Is(in.err, io.EOF) {
			s.failed = in.err
		}
	default:
		s.fromClient(in.line)
	}
}

// isDrained reports whether nothing is left to wait for: what only listens has no
// end, and what waits for a daemon that is away has none to hope for.
func (s *session) isDrained() bool {
	if s.conn == nil {
		s.giveUp()
		return true
	}
	for key := range s.pending {
		if s.listening[key] == nil {
			return false
		}
	}
	return len(s.held.lines) == 0 && len(s.outbox.lines) == 0
}

// toClient writes a line to the client.
func (s *session) toClient(line []byte) {
	if _, err := s.Out.Write(slices.Concat(line, newline)); err != nil && s.failed == nil {
		s.failed = err
	}
}

package relay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fleetsync/fleetd/api/mcp/relay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lineBytesMax = 4096

// rig is a relay with a client on one side and, one after the other, daemons on
// the other. It lives in a bubble of synctest.
type rig struct {
	t       *testing.T
	in      *io.PipeWriter
	out     *bufio.Scanner
	daemons chan net.Conn // what Dial returns; closed means that there is none
	notes   []string
	done    chan error
	cancel  context.CancelFunc
	conn    net.Conn
	daemon  *bufio.Scanner
}

func newRig(t *testing.T) *rig {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	r := &rig{t: t, in: inW, out: bufio.NewScanner(outR), daemons: make(chan net.Conn), done: make(chan error, 1), cancel: cancel}
	carried := relay.Relay{
		In: inR, Out: outW, LineBytesMax: lineBytesMax,
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			select {
			case conn, alive := <-r.daemons:
				if !alive {
					return nil, errors.New("no daemon")
				}
				return conn, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		ReadOnly: func(tool string) bool { return tool == "memory_get" },
		Note:     func(text string) { r.notes = append(r.notes, text) },
	}
	first := r.newDaemon()
	go func() {
		err := carried.Run(ctx, first)
		_ = outW.Close() // a pipe of this process
		r.done <- err
	}()
	t.Cleanup(func() {
		_ = inW.Close() // as above
		cancel()
		_, _ = io.Copy(io.Discard, outR) // what is left of it
		if err := <-r.done; err != nil {
			t.Errorf("Run: %v", err)
		}
		_ = r.conn.Close() // it may be closed
	})
	return r
}

// newDaemon makes another daemon the one that the rig talks as.
func (r *rig) newDaemon() net.Conn {
	theirs, ours := net.Pipe()
	r.conn, r.daemon = ours, bufio.NewScanner(ours)
	r.daemon.Buffer(nil, 1<<20)
	return theirs
}

// restart kills the daemon and begins another.
func (r *rig) restart() {
	_ = r.conn.Close() // that is the point
	conn := r.newDaemon()
	r.daemons <- conn
}

func (r *rig) client(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(r.in, line+"\n"); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) answer(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.conn, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

// gets compares the next line at one side with what is wanted, as JSON.
func (r *rig) gets(from *bufio.Scanner, want string) {
	r.t.Helper()
	if !from.Scan() {
		r.t.Fatalf("no line, want %s", want)
	}
	if diff := cmp.Diff(value(r.t, want), value(r.t, from.Text())); diff != "" {
		r.t.Fatalf("(-want +got):\n%s", diff)
	}
}

func (r *rig) daemonGets(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		r.gets(r.daemon, line)
	}
}

func (r *rig) clientGets(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		r.gets(r.out, line)
	}
}

func value(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// TestWhatIsNoMessageGoesNoFurther holds that what would end the session at the
// daemon is answered here, and that the session goes on.
func TestWhatIsNoMessageGoesNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
		r.client(initialize)
		r.daemonGets(initialize)
		noMessage := `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"not a message: it needs \"jsonrpc\":\"2.0\", and a method or the id of a request"}}`
		noBatch := `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"this version of the protocol has no batches: send each message in a line of its own"}}`
		for line, want := range map[string]string{
			`{}`:                       fmt.Sprintf(noMessage, "null"),
			`null`:                     fmt.Sprintf(noMessage, "null"),
			`{"jsonrpc":"2.0","id":5}`: "",
			`{"jsonrpc":"1.0","id":5,"method":"ping"}`: fmt.Sprintf(noMessage, "5"),
			`{"id":5,"method":"ping"}`:                 fmt.Sprintf(noMessage, "5"),
			`[]`:                                       noBatch,
			`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`: noBatch,
		} {
			if r.client(line); want != "" {
				r.clientGets(want)
			} else {
				r.daemonGets(line)
			}
		}
		const ping = `{"jsonrpc":"2.0","id":6,"method":"ping"}`
		r.client(ping)
		r.daemonGets(ping)
	})
}

// TestASessionThatIsBegunTwiceBeginsAsTheFirstTime holds that an initialize that
// the daemon refuses does not take the place of the one that it accepted.
func TestASessionThatIsBegunTwiceBeginsAsTheFirstTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		const first = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
		const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		r.client(first)
		r.daemonGets(first)
		r.answer(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		r.clientGets(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		r.client(initialized)
		r.daemonGets(initialized)
		const second = `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
		const refused = `{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"duplicate"}}`
		r.client(second)
		r.daemonGets(second)
		r.answer(refused)
		r.clientGets(refused)
		r.restart()
		if !r.daemon.Scan() || !strings.Contains(r.daemon.Text(), "2025-06-18") {
			t.Fatalf("the next session begins with %s", r.daemon.Text())
		}
		var begin struct{ ID string }
		if err := json.Unmarshal(r.daemon.Bytes(), &begin); err != nil {
			t.Fatal(err)
		}
		r.answer(`{"jsonrpc":"2.0","id":"` + begin.ID + `","result":{}}`)
		r.daemonGets(initialized)
	})
}

// TestBatchesOfOlderVersions holds that what the protocol had is carried.
func TestBatchesOfOlderVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`
		batch := `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]`
		r.client(initialize, batch)
		r.daemonGets(initialize, batch)
		r.client(`[]`)
		r.clientGets(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch of nothing"}}`)
	})
}

func TestANewSessionBeginsAsTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		initialize := `{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":"2025-11-25","x":1}}`
		const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		r.client(fmt.Sprintf(initialize, "1"))
		r.daemonGets(fmt.Sprintf(initialize, "1"))
		r.answer(`{"jsonrpc":"2.0","id":1,"result":{"v":1}}`)
		r.clientGets(`{"jsonrpc":"2.0","id":1,"result":{"v":1}}`)
		r.client(initialized)
		r.daemonGets(initialized)
		for id, uri := range []string{"memory://a", "memory://b", "memory://c"} {
			line := fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","method":"resources/subscribe","params":{"uri":%q}}`, id, uri)
			r.client(line)
			r.daemonGets(line)
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","result":{}}`, id)
			if uri == "memory://b" {
				answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","error":{"code":-1,"message":"no"}}`, id)
			}
			r.answer(answer)
			r.clientGets(answer)
		}
		for range 2 {
			r.restart()
			if !r.daemon.Scan() {
				t.Fatal("the new daemon hears nothing")
			}
			var begin struct{ ID string }
			if err := json.Unmarshal(r.daemon.Bytes(), &begin); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(value(t, fmt.Sprintf(initialize, `"`+begin.ID+`"`)), value(t, r.daemon.Text())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// What the client says meanwhile waits until the session has begun.
			r.client(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
			r.answer(`{"jsonrpc":"2.0","id":"` + begin.ID + `","result":{"v":2}}`)
			r.daemonGets(initialized)
			var again [2]subscription
			for i := range again {
				again[i] = r.subscribed()
			}
			r.daemonGets(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
			for i, uri := range []string{"memory://a", "memory://c"} {
				if again[i].Params.URI != uri {
					t.Errorf("subscribed to %s, want %s", again[i].Params.URI, uri)
				}
				r.answer(`{"jsonrpc":"2.0","id":"` + again[i].ID + `","result":{}}`)
				r.clientGets(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`)
			}
			r.answer(`{"jsonrpc":"2.0","id":7,"result":{}}`)
			r.clientGets(`{"jsonrpc":"2.0","id":7,"result":{}}`)
		}
	})
}

// subscription is what a daemon hears.
type subscription struct {
	ID     string
	Method string
	Params struct{ URI string }
}

// subscribed reads a subscription as the daemon.
func (r *rig) subscribed() (s subscription) {
	r.t.Helper()
	if !r.daemon.Scan() {
		r.t.Fatal("no subscription")
	}
	if err := json.Unmarshal(r.daemon.Bytes(), &s); err != nil || s.Method != "resources/subscribe" {
		r.t.Fatalf("%v in %s", err, r.daemon.Text())
	}
	return s
}

// TestListeningLasts: the newer protocol has no session, and a request that
// listens for changes lasts over daemons.
func TestListeningLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		const (
			listen = `{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["memory://a"]}}}`
			ack    = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3},"notifications":{"resourceSubscriptions":["memory://a"]}}}`
		)
		r.client(listen)
		r.daemonGets(listen)
		r.answer(ack)
		r.clientGets(ack)
		// A daemon that stops ends it with an answer, when it still can.
		r.answer(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		r.restart()
		r.daemonGets(listen)
		r.answer(ack)
		r.clientGets(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"memory://a","_meta":{"io.modelcontextprotocol/subscriptionId":3}}}`)
		const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`
		r.client(cancel)
		r.daemonGets(cancel)
		r.restart()
		r.client(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
		r.daemonGets(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
		r.answer(`{"jsonrpc":"2.0","id":4,"result":{}}`)
		r.clientGets(`{"jsonrpc":"2.0","id":4,"result":{}}`)
	})
}

// TestListeningToNothingEnds with the answer of the daemon, which granted nothing.
func TestListeningToNothingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for _, line := range []string{
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3},"notifications":{}}}`,
			`{"jsonrpc":"2.0","id":3,"result":{}}`,
		} {
			if strings.Contains(line, "acknowledged") {
				const listen = `{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true}}}`
				r.client(listen)
				r.daemonGets(listen)
			}
			r.answer(line)
			r.clientGets(line)
		}
		r.restart()
		const next = `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`
		r.client(next)
		r.daemonGets(next)
		r.answer(`{"jsonrpc":"2.0","id":4,"result":{}}`)
		r.clientGets(`{"jsonrpc":"2.0","id":4,"result":{}}`)
	})
}

func TestWhatWasUnderWayIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		get := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_get"}}`
		write := `{"jsonrpc":"2.0","id":"2","method":"tools/call","params":{"name":"memory_write"}}`
		r.client(get, write)
		r.daemonGets(get, write)
		restarted := make(chan bool)
		go func() {
			defer close(restarted)
			r.restart()
		}()
		r.clientGets(
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the daemon was restarted before it answered. The call changes nothing, and may be repeated.","data":{"repeatable":true}}}`,
			`{"jsonrpc":"2.0","id":"2","error":{"code":-32000,"message":"the daemon was restarted before it answered. The call may or may not have been done: look before you repeat it.","data":{"repeatable":false}}}`)
		<-restarted
	})
}

func TestABatchThatWasUnderWayIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`
		const batch = `[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"tools/list"},{"jsonrpc":"2.0","method":"x"}]`
		r.client(initialize, batch)
		r.daemonGets(initialize, batch)
		const begun = `{"jsonrpc":"2.0","id":0,"result":{}}`
		r.answer(begun)
		r.clientGets(begun)
		restarted := make(chan bool)
		go func() {
			defer close(restarted)
			r.restart()
		}()
		for _, id := range []string{"1", "2"} {
			r.clientGets(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"the daemon was restarted before it answered. The call changes nothing, and may be repeated.","data":{"repeatable":true}}}`)
		}
		<-restarted
	})
}

func TestADaemonThatStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		_ = r.conn.Close() // it goes away
		close(r.daemons)
		synctest.Wait()
		const away = `"error":{"code":-32000,"message":"the daemon is not running: fleetd run starts it. The call was not made, and may be repeated.","data":{"repeatable":true}}}`
		r.client(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		r.clientGets(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		begun := time.Now()
		r.client(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		r.clientGets(`{"jsonrpc":"2.0","id":2,` + away)
		if waited := time.Since(begun); waited != 30*time.Second {
			t.Errorf("it was held for %s", waited)
		}
		r.client(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`) // nothing waits any more
		r.clientGets(`{"jsonrpc":"2.0","id":3,` + away)
		if waited := time.Since(begun); waited != 30*time.Second {
			t.Errorf("the next one was held until %s", waited)
		}
	})
}

func TestALineThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		long := strings.Repeat("x", 3*lineBytesMax)
		r.client(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"` + long + `"}}`)
		r.clientGets(`{"jsonrpc":"2.0","id":5,"error":{"code":-32700,"message":"the message has more than 4096 bytes"}}`)
		r.client(`{"params":{"name":"` + long + `","id":4},"id":"5"}`)
		r.clientGets(`{"jsonrpc":"2.0","id":"5","error":{"code":-32700,"message":"the message has more than 4096 bytes"}}`)
		r.client(`{"params":{"name":"` + long + `","id":4}}`)
		r.clientGets(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message has more than 4096 bytes"}}`)
		r.client(`no JSON`)
		r.clientGets(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a message in JSON: invalid character 'o' in literal null (expecting 'u')"}}`)
		r.client(`{"jsonrpc":"2.0","id":6,"method":"tools/list"}`)
		r.daemonGets(`{"jsonrpc":"2.0","id":6,"method":"tools/list"}`)
		r.answer(`{"jsonrpc":"2.0","id":6,"result":"` + long + `"}`)
		r.clientGets(`{"jsonrpc":"2.0","id":6,"error":{"code":-32000,"message":"the answer has more than 4096 bytes: ask for less"}}`)
	})
}

// TestAnIDThatWouldComeBackChangedIsRefused with the id as it was sent. The daemon
// takes numbers for float64, and what it answers would belong to no request.
func TestAnIDThatWouldComeBackChangedIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for id, answered := range map[string]string{
			"9007199254740993": "9007199254740993", "-9007199254740992": "-9007199254740992", "1e400": "1e400", "1E2": "1E2", "1.0": "1.0", "2.5": "2.5", "-0": "-0",
			"99999999999999999999": "99999999999999999999", `"\ud800"`: `"\ud800"`, "\"\xff\"": "null", "true": "null", "[1]": "null", `{"a":1}`: "null",
		} {
			r.client(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list"}`)
			if !r.out.Scan() {
				t.Fatalf("no answer to the id %s", id)
			}
			begins := `{"jsonrpc":"2.0","id":` + answered + `,"error":{"code":-32600,"message":"the id `
			if !strings.HasPrefix(r.out.Text(), begins) || !strings.Contains(r.out.Text(), "would come back as another one: an id is a string, or an integer from -9007199254740991") {
				t.Errorf("the id %s is answered by %s", id, r.out.Text())
			}
		}
		for _, id := range []string{"9007199254740991", "-9007199254740991", "0", "-1", `"9007199254740993"`, `""`, `"\ufffd"`, `"\ud83d\ude00"`, `"1.0"`} {
			line := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list"}`
			r.client(line)
			r.daemonGets(line)
			r.answer(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			r.clientGets(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		}
		// Nothing is waited for: the relay ends with its client.
		begun := time.Now()
		if err := r.in.Close(); err != nil {
			t.Fatal(err)
		}
		if r.out.Scan() || time.Since(begun) != 0 {
			t.Errorf("%q after the end, after %s", r.out.Text(), time.Since(begun))
		}
	})
}

func TestTheEndOfTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.client(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		r.daemonGets(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if err := r.in.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.answer(`{"jsonrpc":"2.0","id":1,"result":{}}`) // it is waited for
		r.clientGets(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		if r.out.Scan() {
			t.Errorf("%q after the end", r.out.Text())
		}
	})
}

// TestEveryRequestIsAnsweredOnce lets daemons die at any moment.
func TestEveryRequestIsAnsweredOnce(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test repeats its choices
			r := newRig(t)
			const requests = 100
			counts := map[float64]int{}
			counted := make(chan bool)
			go func() {
				defer close(counted)
				for range requests {
					if !r.out.Scan() {
						return
					}
					var m struct{ ID float64 }
					if json.Unmarshal(r.out.Bytes(), &m) == nil {
						counts[m.ID]++
					}
				}
			}()
			go func() {
				for id := range requests {
					r.client(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id))
				}
			}()
			for alive := true; alive; {
				select {
				case <-counted:
					alive = false
					continue
				default:
				}
				answerSome(r, random.IntN(10))
				r.restart()
			}
			for id := range requests {
				if counts[float64(id)] != 1 {
					t.Errorf("seed %d: request %d was answered %d times", seed, id, counts[float64(id)])
				}
			}
		})
	}
}

// answerSome answers up to n requests, as far as there are any.
func answerSome(r *rig, n int) {
	for range n {
		if r.conn.SetReadDeadline(time.Now().Add(time.Second)) != nil || !r.daemon.Scan() {
			return
		}
		var m struct{ ID json.RawMessage }
		if json.Unmarshal(r.daemon.Bytes(), &m) == nil {
			r.answer(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{}}`)
		}
	}
}

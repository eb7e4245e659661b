package node_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fleetsync/fleetd/node"
)

// The secrets, in parts, so that no scanner of repositories takes them for leaks.
const (
	caseAWS = "AKIA" + "IOSFODNN7EXAMPLE"
	caseJWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ" + ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
	casePEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
)

// tap keeps every byte that a host writes to its streams, gossip's too, as it is
// before encryption.
type tap struct {
	mu      sync.Mutex // guards all following fields
	streams []*bytes.Buffer
}

// holds reports whether a text left: as it is, or in a compressed frame.
func (p *tap) holds(t *testing.T, text string) bool {
	t.Helper()
	inflate, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer inflate.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for _, stream := range p.streams {
		left := stream.Bytes()
		if bytes.Contains(left, []byte(text)) {
			return true
		}
		for at := bytes.Index(left, magic); at >= 0; at = bytes.Index(left, magic) {
			left = left[at:]
			// What follows the frame is no frame; what is before that was decoded.
			var frame bytes.Buffer
			if err := inflate.Reset(bytes.NewReader(left)); err == nil {
				_, _ = frame.ReadFrom(inflate)
			}
			if bytes.Contains(frame.Bytes(), []byte(text)) {
				return true
			}
			left = left[len(magic):]
		}
	}
	return false
}

func (p *tap) stream(s network.Stream) network.Stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := &bytes.Buffer{}
	p.streams = append(p.streams, sent)
	return &tappedStream{Stream: s, tap: p, sent: sent}
}

type tappedStream struct {
	network.Stream
	tap  *tap
	sent *bytes.Buffer
}

func (s *tappedStream) Write(b []byte) (int, error) {
	s.tap.mu.Lock()
	s.sent.Write(b)
	s.tap.mu.Unlock()
	return s.Stream.Write(b)
}

type tappedHost struct {
	host.Host
	tap *tap
}

func (h *tappedHost) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	return h.tap.stream(s), nil
}

func (h *tappedHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.Host.SetStreamHandler(id, func(s network.Stream) { handle(h.tap.stream(s)) })
}

func (h *tappedHost) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	h.Host.SetStreamHandlerMatch(id, match, func(s network.Stream) { handle(h.tap.stream(s)) })
}

// TestCase66SecretsDoNotLeaveTheNode: what is held is in no byte that leaves, by
// gossip or by exchange, short or long, and after its release it is. So the tap would
// have seen it.
func TestCase66SecretsDoNotLeaveTheNode(t *testing.T) {
	sent := &tap{}
	f := newFixture(t, func(c *node.Config) {
		c.ShareSessions = true
		if filepath.Base(c.Dir) == "a" {
			c.HostFactory = func(p node.HostParams) (host.Host, error) {
				h, err := node.NewHost(p)
				if err != nil {
					return nil, err
				}
				return &tappedHost{h, sent}, nil
			}
		}
	})
	a := f.found("a")
	b := f.join(a, "b")
	pem := "-----BEGIN " + "PRIVATE KEY-----\n" + casePEM + "\n" + casePEM + "\n-----END PRIVATE KEY-----"
	a.begin("talk")
	a.say("talk", "the key is "+caseAWS)
	a.say("talk", "as I said")
	a.teach("deploy", pem)
	a.remember("short " + caseJWT)
	long := a.remember("long " + caseJWT + strings.Repeat(" filler of many words", 5_000))
	a.remember("nothing secret")
	f.converge(a, b)
	if got := b.said("talk"); len(got) != 2 {
		t.Errorf("b has the turns %v, want those without a secret", got)
	}
	sent.expect(t, false, caseAWS, caseJWT, casePEM)
	sent.expect(t, true, "nothing secret", "as I said")
	a.release(4)
	f.converge(a, b)
	f.eventually("b to have what was released", []*member{a, b}, func() bool {
		it, err := b.State().MemoryLibrary().Get(t.Context(), long.ID)
		return err == nil && it.Content == long.Content && b.skillBody("deploy") == pem
	})
	sent.expect(t, true, caseAWS, caseJWT, casePEM)
	if got := b.said("talk"); len(got) != 3 || !strings.HasPrefix(got[1], "2 the key is "+caseAWS) {
		t.Errorf("b has the turns %v, want each in its place", got)
	}
}

// expect fails unless each text left, or did not.
func (p *tap) expect(t *testing.T, left bool, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if p.holds(t, text) != left {
			t.Errorf("%.20s left the node: %v, want %v", text, !left, left)
		}
	}
}

// release shares what a member holds back, so many records.
func (m *member) release(want int) {
	m.fixture.t.Helper()
	ctx := m.fixture.t.Context()
	if st, err := m.Status(ctx); err != nil || st.Held != want {
		m.fixture.t.Fatalf("%d are held, %v, want %d", st.Held, err, want)
	}
	held, err := m.State().Held(ctx)
	if err != nil {
		m.fixture.t.Fatal(err)
	}
	for _, h := range held {
		if _, err := m.State().Release(ctx, h.Key, h.Version); err != nil {
			m.fixture.t.Fatal(err)
		}
	}
}

package node

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// bookEntry is what is known of where a member is. Keys are never reused.
type bookEntry struct {
	Member merge.InstanceID `cbor:"1,keyasint"`
	// Addrs are multiaddresses without the peer id, at most bookAddrsMax.
	Addrs []string `cbor:"2,keyasint,omitempty"`
	// Told is when the member itself last stated Addrs, to somebody, in
	// milliseconds since 1970: the newer list wins.
	Told int64 `cbor:"3,keyasint,omitempty"`
	// Seen is when this node was last connected with it, in milliseconds since
	// 1970; 0 for never. It is not sent.
	Seen int64 `cbor:"4,keyasint,omitempty"`
}

// seenEvery is how far a stored Seen may lag behind while connected, so that
// it costs few writes.
const seenEvery = time.Minute

// book is the address book of the fleet, kept in the store's local values. It
// is safe for concurrent use.
type book struct {
	store *store.Store
	log   *slog.Logger
	// changed is called after addresses of a member changed; it must not block.
	changed func()

	mu      sync.Mutex // guards entries
	entries map[merge.InstanceID]bookEntry
}

func bookName(id merge.InstanceID) string { return "peer/" + id.String() }

func saveEntry(ctx context.Context, st *store.Store, e bookEntry) error {
	return setLocal(ctx, st, bookName(e.Member), e)
}

func newBook(st *store.Store, log *slog.Logger) *book {
	return &book{store: st, log: log, changed: func() {}, entries: map[merge.InstanceID]bookEntry{}}
}

// entry returns what is known of a member; a zero entry when nothing is.
func (b *book) entry(id merge.InstanceID) bookEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.load(id)
}

// load reads an entry, from the store the first time. It is called under mu.
func (b *book) load(id merge.InstanceID) bookEntry {
	if e, ok := b.entries[id]; ok {
		return e
	}
	var e bookEntry
	known, err := getLocal(b.store, bookName(id), &e)
	if err != nil {
		b.log.Warn("address book not read", "peer", id.String(), "err", err)
	}
	if !known || e.Member != id {
		e = bookEntry{Member: id}
	}
	b.entries[id] = e
	return e
}

// learn takes a list of addresses that a member stated at a time; an older one
// than is known changes nothing.
func (b *book) learn(ctx context.Context, id merge.InstanceID, addrs []string, told time.Time) {
	addrs = cleanAddrs(addrs)
	// A clock ahead must not make a list win for ever.
	at := min(told.UnixMilli(), time.Now().UnixMilli())
	b.mu.Lock()
	e := b.load(id)
	if len(addrs) == 0 || at <= e.Told {
		b.mu.Unlock()
		return
	}
	same := slices.Equal(addrs, e.Addrs)
	e.Addrs, e.Told = addrs, at
	b.entries[id] = e
	b.mu.Unlock()
	if same {
		return
	}
	b.save(ctx, e)
	b.changed()
}

// met notes that this node is connected with a member.
func (b *book) met(ctx context.Context, id merge.InstanceID, now time.Time) {
	b.mu.Lock()
	e := b.load(id)
	stale := now.UnixMilli()-e.Seen > seenEvery.Milliseconds()
	e.Seen = now.UnixMilli()
	b.entries[id] = e
	b.mu.Unlock()
	if stale {
		b.save(ctx, e)
	}
}

func (b *book) save(ctx context.Context, e bookEntry) {
	if err := saveEntry(ctx, b.store, e); err != nil && ctx.Err() == nil {
		b.log.Warn("address book not written", "peer", e.Member.String(), "err", err)
	}
}

// addrInfo returns how to dial a member; ok is false when nobody knows.
func (b *book) addrInfo(id merge.InstanceID) (info peer.AddrInfo, ok bool) {
	info.ID = peerOf(id)
	for _, text := range b.entry(id).Addrs {
		if addr, err := multiaddr.NewMultiaddr(text); err == nil {
			info.Addrs = append(info.Addrs, addr)
		}
	}
	return info, len(info.Addrs) > 0
}

// cleanAddrs keeps the addresses that can be dialled, in order, within bounds.
func cleanAddrs(addrs []string) []string {
	var kept []string
	for _, text := range addrs {
		addr, err := multiaddr.NewMultiaddr(text)
		if err != nil || len(text) > bookAddrBytesMax || len(kept) == bookAddrsMax {
			continue
		}
		bare, _ := peer.SplitAddr(addr)
		if bare == nil || manet.IsIPUnspecified(bare) || strings.Contains(text, "/p2p-circuit") {
			continue
		}
		if text = bare.String(); !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}

// tellable returns the addresses that mean something to somebody at the other
// end of a connection to remote: loopback only on the same machine.
func tellable(addrs []multiaddr.Multiaddr, remote multiaddr.Multiaddr) []string {
	here := manet.IsIPLoopback(remote)
	var texts []string
	for _, addr := range addrs {
		if here || !manet.IsIPLoopback(addr) {
			texts = append(texts, addr.String())
		}
	}
	return texts
}

// tellableTexts is tellable of addresses in their text form.
func tellableTexts(texts []string, remote multiaddr.Multiaddr) []string {
	addrs := make([]multiaddr.Multiaddr, 0, len(texts))
	for _, text := range texts {
		if addr, err := multiaddr.NewMultiaddr(text); err == nil {
			addrs = append(addrs, addr)
		}
	}
	return tellable(addrs, remote)
}

// String returns the entry for logs.
func (e bookEntry) String() string { return fmt.Sprintf("%s at %v", e.Member, e.Addrs) }

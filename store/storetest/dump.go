package storetest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// dump returns everything that a store can be asked, as text by question.
func dump(tb testing.TB, s *store.Store) map[string]string {
	tb.Helper()
	d := dumper{said: map[string]string{}, store: s}
	if err := s.View(d.everything); err != nil {
		tb.Fatalf("dump: %v", err)
	}
	return d.said
}

// dumper asks as far as it can and keeps the errors on the way.
type dumper struct {
	said   map[string]string
	store  *store.Store
	reader *store.Reader
	failed []error
}

// say keeps an answer, or the error that came instead; ErrNotFound is no
// answer.
func (d *dumper) say(err error, answer, format string, args ...any) {
	switch {
	case err == nil:
		d.said[fmt.Sprintf(format, args...)] = answer
	case !errors.Is(err, store.ErrNotFound):
		d.failed = append(d.failed, err)
	}
}

// done keeps the error that ended a walk.
func (d *dumper) done(err error) {
	if err != nil {
		d.failed = append(d.failed, err)
	}
}

func (d *dumper) everything(r *store.Reader) error {
	d.reader = r
	for _, state := range d.store.Sections() {
		d.section(state)
	}
	d.done(r.Conflicts(func(k merge.Key, held []store.Held) bool {
		d.say(nil, strconv.Itoa(len(held)), "conflict %s", k)
		return true
	}))
	d.done(r.Parked(func(p store.Parked) bool {
		d.say(nil, p.Reason.String()+p.Path.String()+string(p.Record.Encode()), "parked %s %x", p.Record.Key, p.Record.Hash())
		return true
	}))
	d.done(r.Retracted(func(k merge.Key, p store.Past) bool {
		rec, err := r.RetractedImage(store.Ref{Key: k, Writer: p.Writer, Hash: p.Hash})
		d.say(err, p.Retracted.String(), "retracted %s %d", k, p.Seq)
		d.record(k, p.Held, rec, err)
		return true
	}))
	d.done(r.Events(0, func(e store.Event) bool {
		d.say(nil, fmt.Sprintf("%+v", e), "event %d", e.Seq)
		return true
	}))
	d.done(r.IndexScan("", func(name store.IndexName, value []byte) bool {
		d.say(nil, hex.EncodeToString(value), "index %q", name)
		return true
	}))
	d.done(r.Wanted(merge.Hash{}, func(store.WantedBlob) bool { return true })) // damage adds to it
	local, err := r.Local("name")
	d.say(err, string(local), "local")
	return errors.Join(d.failed...)
}

func (d *dumper) section(state store.SectionState) {
	r, sec := d.reader, state.Section
	d.say(nil, fmt.Sprintf("%+v", state), "section %s", sec)
	stored, err := r.State(sec)
	d.say(err, fmt.Sprintf("%+v", stored), "stored section %s", sec)
	d.done(r.Feed(sec, 0, func(e store.FeedEntry) bool {
		d.say(nil, fmt.Sprintf("%s %x", e.Key, e.Hash), "feed %s %d", sec, e.Seq)
		return true
	}))
	d.done(r.Range(sec, "", func(k merge.Key, held []store.Held) bool {
		d.key(k, held)
		return true
	}))
	cursor, err := r.Cursor("peer", sec)
	d.say(err, fmt.Sprintf("%+v", cursor), "cursor %s", sec)
}

func (d *dumper) key(k merge.Key, held []store.Held) {
	d.say(nil, fmt.Sprintf("%+v", held), "held %s", k)
	for _, h := range held {
		rec, err := d.reader.Load(k, h)
		d.record(k, h, rec, err)
	}
	past, err := d.reader.History(k)
	d.done(err)
	for _, p := range past {
		d.say(nil, fmt.Sprintf("%+v", p), "past %s %d", k, p.Seq)
		rec, err := d.reader.Image(store.Ref{Key: k, Writer: p.Writer, Hash: p.Hash})
		d.record(k, p.Held, rec, err)
	}
}

func (d *dumper) record(k merge.Key, h store.Held, rec merge.Record, err error) {
	if err != nil {
		d.say(err, "", "")
		return
	}
	d.say(nil, string(rec.Encode()), "record %s %d", k, h.Seq)
	for _, ref := range rec.Blobs {
		d.blob(ref.Hash)
	}
}

// blob asks for content. That it is not all here yet is an answer.
func (d *dumper) blob(hash merge.Hash) {
	content, err := d.reader.Blob(hash)
	if errors.Is(err, store.ErrIncomplete) {
		content, err = []byte("incomplete"), nil
	}
	d.say(err, string(content), "blob %x", hash)
}

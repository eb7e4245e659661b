package sync_test

import (
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// words says in one line what a message says. Requests are numbered as they
// come, since their ids begin at a random place.
type words struct {
	numbers map[uint64]int
	after   map[uint64][]byte // where questions began, as their answers do
}

// listedWords is how many things of a list are named.
const listedWords = 4

func (w *words) number(id uint64) int {
	if w.numbers[id] == 0 {
		w.numbers[id] = len(w.numbers) + 1
	}
	return w.numbers[id]
}

func (w *words) describe(m fleetsync.Message) string {
	switch m := m.(type) {
	case *fleetsync.Hello:
		return "HELLO " + ofHello(m)
	case *fleetsync.HelloAck:
		return "HELLO_ACK " + ofHello(&m.Hello)
	case *fleetsync.Heartbeat:
		if len(m.Echo) == 0 {
			return fmt.Sprintf("HEARTBEAT %s heads: %s", short(m.Heads.Salt), ofHeads(&m.Heads))
		}
		return fmt.Sprintf("HEARTBEAT echo %s differing: %s", short(m.Echo), ofHeads(&m.Heads))
	case *fleetsync.Busy:
		return fmt.Sprintf("BUSY %d: again after %d ms", w.number(m.ID), m.Retry)
	case *fleetsync.Error:
		return fmt.Sprintf("ERR code %d: %s", m.Code, m.Text)
	case *fleetsync.BlobGet:
		return fmt.Sprintf("BLOB_GET %d %s: %s from byte %d", w.number(m.ID), family(m.Section), short(m.Hash), m.Offset) + bound(m.Bytes)
	case *fleetsync.Blob:
		return fmt.Sprintf("BLOB %d: %d bytes of %d", w.number(m.ID), len(m.Bytes), m.Size)
	case *fleetsync.Changes, *fleetsync.ChangesPage, *fleetsync.CursorInvalid:
		return w.ofFeed(m)
	case *fleetsync.Recon, *fleetsync.ReconAnswer:
		return w.ofRanges(m)
	}
	return w.ofRecords(m)
}

func (w *words) ofFeed(m fleetsync.Message) string {
	switch m := m.(type) {
	case *fleetsync.Changes:
		text := fmt.Sprintf("CHANGES %d %s: after %d of incarnation %s", w.number(m.ID), family(m.Section), m.After, opening(m.Incarnation))
		if m.Inline {
			text += ", records"
		}
		return text
	case *fleetsync.ChangesPage:
		var entries []string
		for i := range m.Entries {
			entries = append(entries, item(m.Entries[i].Order, m.Entries[i].Writer))
		}
		text := "nothing"
		switch {
		case len(m.Entries) > 0:
			text = "entries " + list(entries)
		case len(m.Records) > 0:
			text = "records " + records(m.Records)
		}
		return fmt.Sprintf("CHANGES_PAGE %d: %s, next %d%s", w.number(m.ID), text, m.Next, done(m.Done))
	case *fleetsync.CursorInvalid:
		return fmt.Sprintf("CURSOR_INVALID %d: %s, which is %d", w.number(m.ID), m.Reason, m.End)
	}
	return ""
}

func (w *words) ofRecords(m fleetsync.Message) string {
	switch m := m.(type) {
	case *fleetsync.Get:
		text := fmt.Sprintf("GET %d %s:", w.number(m.ID), family(m.Section))
		if len(m.Tags) > 0 {
			return text + fmt.Sprintf(" %d by their tags in %s under salt %s", len(m.Tags)/6, span(m.After, m.UpTo), short(m.Salt))
		}
		var refs []string
		for i := range m.Refs {
			refs = append(refs, item(m.Refs[i].Order, m.Refs[i].Writer))
		}
		return text + " " + list(refs)
	case *fleetsync.Records:
		return fmt.Sprintf("RECORDS %d: %d answered, records %s", w.number(m.ID), m.Answered, records(m.Records))
	case *fleetsync.PageReq:
		return fmt.Sprintf("PAGE_REQ %d %s: %s", w.number(m.ID), family(m.Section), span(m.After, m.UpTo)) + bound(m.Bytes)
	case *fleetsync.Page:
		return fmt.Sprintf("PAGE %d: records %s, sum %s, head %d%s", w.number(m.ID), records(m.Records), short(m.Sum), m.Head, done(m.Done))
	}
	return fmt.Sprintf("message of type %d", m.Type())
}

func (w *words) ofRanges(m fleetsync.Message) string {
	switch m := m.(type) {
	case *fleetsync.Recon:
		text := fmt.Sprintf("RECON %d %s salt %s", w.number(m.ID), family(m.Section), short(m.Salt))
		if m.Exact {
			text += " exact"
		}
		w.after[m.ID] = m.After
		return text + ": " + spans(m.After, m.Spans)
	case *fleetsync.ReconAnswer:
		text := fmt.Sprintf("RECON_ANSWER %d head %d: %s", w.number(m.ID), m.Head, spans(w.after[m.ID], m.Spans))
		if len(m.Items) == 0 {
			return text
		}
		var items []string
		order := ""
		for i := range m.Items {
			order = order[:m.Items[i].Shared] + string(m.Items[i].Rest)
			items = append(items, item([]byte(order), m.Writers[m.Items[i].Writer]))
		}
		return text + "; items " + list(items)
	}
	return ""
}

func ofHello(m *fleetsync.Hello) string {
	return fmt.Sprintf("fleet %s store %s incarnation %s heads: %s", short(m.Fleet), short(m.Store), opening(m.Incarnation), ofHeads(&m.Heads))
}

func ofHeads(h *fleetsync.Heads) string {
	var heads []string
	for _, s := range h.Sections {
		heads = append(heads, fmt.Sprintf("%s %s at %d root %s", sectionName(s.Section), versionsIn(s.Count), s.Head, short(s.Root)))
	}
	var withheld []string
	for _, id := range h.WithheldSections {
		withheld = append(withheld, ", not shared: "+sectionName(id))
	}
	return list(heads) + strings.Join(withheld, "")
}

// sectionName is a family, of a project if it is in one.
func sectionName(id string) string {
	return strings.ReplaceAll(strings.Trim(id, "\x1f"), "\x1f\x1f", " of ")
}

// spans names consecutive spans by where they begin and end.
func spans(after []byte, all []fleetsync.ReconSpan) string {
	var parts []string
	at := string(after)
	for i := range all {
		s := &all[i]
		from := at
		at = at[:min(int(s.Shared), len(at))] + string(s.Rest)
		text := place(from, "begin") + ".." + place(at, "end")
		switch s.Mode {
		case 0:
			text = "skip " + text
		case 1:
			text = fmt.Sprintf("compare %s %s print %s", text, versionsIn(s.Count), short(s.Print))
		case 2:
			text = fmt.Sprintf("list %s but what has one of %d tags", text, len(s.Print)/6)
		}
		parts = append(parts, text)
	}
	return list(parts)
}

func span(after, upTo []byte) string {
	return place(string(after), "begin") + ".." + place(string(upTo), "end")
}

// place names a position: a version by its id and writer, any other by how it
// begins.
func place(p, none string) string {
	if p == "" {
		return none
	}
	order, writer, _ := strings.Cut(p, "\x00\x00")
	return item([]byte(order), merge.InstanceID(writer))
}

// item names a version of the global scope.
func item(order []byte, writer merge.InstanceID) string {
	_, id, _ := strings.Cut(string(order), "\x00")
	if writer == "" {
		return fmt.Sprintf("%q", id)
	}
	return id + " by " + string(writer)
}

func records(wires [][]byte) string {
	var names []string
	for _, wire := range wires {
		r, err := merge.Decode(wire)
		if err != nil {
			names = append(names, err.Error())
			continue
		}
		names = append(names, string(r.Key.ID)+" by "+string(r.Envelope.LastWriterID))
	}
	return list(names)
}

func list(parts []string) string {
	switch n := len(parts); {
	case n == 0:
		return "none"
	case n > listedWords:
		return strings.Join(parts[:listedWords-1], ", ") + fmt.Sprintf(", ... %s (%d in all)", parts[n-1], n)
	}
	return strings.Join(parts, ", ")
}

func family(section string) string {
	s, err := merge.ParseSectionID(section)
	if err != nil {
		return section
	}
	return s.Family
}

func versionsIn(n uint64) string {
	if n == 1 {
		return "1 version"
	}
	return fmt.Sprintf("%d versions", n)
}

// bound is how large an answer may be, where it was said.
func bound(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf(", at most %d KiB", bytes>>10)
}

func done(is bool) string {
	if is {
		return ", done"
	}
	return ""
}

// short names something by its first bytes.
func short(b []byte) string { return fmt.Sprintf("%x..", b[:min(2, len(b))]) }

func opening(n uint64) string { return fmt.Sprintf("%04x..", n>>48) }

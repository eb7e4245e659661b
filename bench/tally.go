package main

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	fleetsync "github.com/fleetsync/fleetd/sync"
)

// traffic is what was sent of one type of message, both ways.
type traffic struct {
	messages int
	// metadata and records divide the bytes of the frames.
	metadata, records int64
}

// tally counts frames by the type of their message.
type tally map[fleetsync.MessageType]*traffic

// kinds names the messages as the protocol does, and the path that an answer
// belongs to.
var kinds = map[fleetsync.MessageType]struct{ name, path string }{
	fleetsync.TypeHello:         {name: "HELLO"},
	fleetsync.TypeHelloAck:      {name: "HELLO_ACK"},
	fleetsync.TypeHeartbeat:     {name: "HEARTBEAT"},
	fleetsync.TypeChanges:       {name: "CHANGES"},
	fleetsync.TypeChangesPage:   {name: "CHANGES_PAGE", path: "feed"},
	fleetsync.TypeCursorInvalid: {name: "CURSOR_INVALID"},
	fleetsync.TypeGet:           {name: "GET"},
	fleetsync.TypeRecords:       {name: "RECORDS"},
	9:                           {name: "RECON", path: "reconcile"},
	10:                          {name: "RECON_ANSWER", path: "reconcile"},
	fleetsync.TypePageReq:       {name: "PAGE_REQ"},
	fleetsync.TypePage:          {name: "PAGE", path: "pages"},
	fleetsync.TypeBusy:          {name: "BUSY"},
	fleetsync.TypeError:         {name: "ERR"},
}

// add counts one message and its frame.
func (t tally) add(m fleetsync.Message, frame []byte) error {
	records, err := recordShare(m, frame)
	if err != nil {
		return err
	}
	of := t[m.Type()]
	if of == nil {
		of = &traffic{}
		t[m.Type()] = of
	}
	of.messages++
	of.records += records
	of.metadata += int64(len(frame)) - records
	return nil
}

// recordShare returns the bytes of a frame that its encoded records take: in a
// compressed one, their share of what it inflates to.
func recordShare(m fleetsync.Message, frame []byte) (int64, error) {
	records := fleetsync.RecordsOf(m)
	if len(records) == 0 {
		return 0, nil
	}
	plain := int64(0)
	for _, r := range records {
		plain += int64(len(r))
	}
	_, prefix := binary.Uvarint(frame)
	payload := frame[prefix+2:]
	if frame[prefix+1] == 0 {
		return plain, nil
	}
	var header zstd.Header
	if err := header.Decode(payload); err != nil || !header.HasFCS {
		return 0, fmt.Errorf("a frame does not tell what it inflates to: %w", err)
	}
	return int64(float64(plain) / float64(header.FrameContentSize) * float64(len(payload))), nil
}

// total sums everything up.
func (t tally) total() (all traffic) {
	for _, of := range t {
		all.messages += of.messages
		all.metadata += of.metadata
		all.records += of.records
	}
	return all
}

// metadata returns the bytes of each type of message.
func (t tally) metadata() map[string]int64 {
	sizes := map[string]int64{}
	for kind, of := range t {
		name := kinds[kind].name
		if name == "" {
			name = fmt.Sprintf("TYPE_%d", kind)
		}
		sizes[name] += of.metadata
	}
	return sizes
}

// path returns the path whose answers carried most.
func (t tally) path() string {
	sizes := map[string]int64{"heartbeat": 0}
	for kind, of := range t {
		if path := kinds[kind].path; path != "" {
			sizes[path] += of.metadata + of.records
		}
	}
	most := "heartbeat"
	for path, size := range sizes {
		if size > sizes[most] {
			most = path
		}
	}
	return most
}

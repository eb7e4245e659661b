package state

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

func sessionRows(head *merge.Record) ([]indexRow, error) {
	ses, err := decodeSession(head)
	if err != nil || ses.Deleted {
		return nil, err
	}
	return []indexRow{{indexName(indexSessionIn, scopeID(head.Key.Scope), indexTime(ses.CreatedAt), ses.ID), indexLive}}, nil
}

func turnRows(head *merge.Record) ([]indexRow, error) {
	t, err := decodeTurn(head)
	if err != nil || t.Deleted {
		return nil, err
	}
	e := head.Envelope
	return []indexRow{{indexName(
		indexTurnIn, scopeID(head.Key.Scope), t.SessionID,
		indexNumber(uint64(t.Seq)), indexNumber(e.UpdatedHLC.Pack()), hex.EncodeToString([]byte(e.LastWriterID)), t.ID,
	), indexLive}}, nil
}

// tally is what a session's record does not say: how many turns there are of
// it, deleted ones included, and which was written last. It counts heads
// whatever their bodies, so that a number never goes back on any replica, and
// so that the row follows from the heads alone.
type tally struct {
	turns  int64
	stamp  hlc.Timestamp
	writer merge.InstanceID
}

// tallyRow returns the row of the tally that a change of a turn's head makes;
// none for other kinds. A later head of a turn has a larger stamp, so the newest
// of all is the larger of what was and what comes; but for a head that the
// fleet's statements took away.
func tallyRow(previous, next *merge.Record, read func(store.IndexName) []byte) ([]store.IndexRow, error) {
	turn := cmp.Or(next, previous)
	if turn == nil || turn.Key.Kind != kindTurn {
		return nil, nil
	}
	components := turn.Key.ID.Components()
	if len(components) != 2 {
		return nil, nil
	}
	name := store.NewIndexName(indexTurnTally, scopeID(turn.Key.Scope), components[0])
	t, err := decodeTally(read(name))
	if err != nil {
		return nil, err
	}
	if previous == nil {
		t.turns++
	} else if next == nil || next.Envelope.UpdatedHLC.Before(previous.Envelope.UpdatedHLC) {
		t.lose(previous.Envelope.UpdatedHLC, previous.Envelope.LastWriterID)
	}
	if next == nil {
		t.turns--
	} else {
		t.take(next.Envelope.UpdatedHLC, next.Envelope.LastWriterID)
	}
	if t.turns <= 0 {
		return []store.IndexRow{{Name: name}}, nil
	}
	return []store.IndexRow{{Name: name, Value: t.encode()}}, nil
}

// take makes a version the newest if it is.
func (t *tally) take(stamp hlc.Timestamp, writer merge.InstanceID) {
	if stamp.After(t.stamp) || stamp == t.stamp && writer > t.writer {
		t.stamp, t.writer = stamp, writer
	}
}

// lose notes that a version is gone. Which is the newest now, the row cannot
// tell until there is one after it.
func (t *tally) lose(stamp hlc.Timestamp, writer merge.InstanceID) {
	if t.stamp == stamp && t.writer == writer {
		t.writer = ""
	}
}

// encode returns turns8, stamp8, writer; no writer when the newest version has to
// be looked for, before that stamp.
func (t tally) encode() []byte {
	value := binary.BigEndian.AppendUint64(nil, uint64(t.turns))
	return append(t.stamp.AppendBinary(value), t.writer...)
}

// decodeTally is the inverse of encode; no row is a tally of nothing. Errors:
// store.ErrCorrupt.
func decodeTally(value []byte) (t tally, err error) {
	const countBytes = 8
	switch {
	case value == nil:
		return tally{}, nil
	case len(value) < countBytes+hlc.Size:
		err = fmt.Errorf("a row of %d bytes", len(value))
	default:
		t = tally{turns: int64(binary.BigEndian.Uint64(value)), writer: merge.InstanceID(value[countBytes+hlc.Size:])}
		t.stamp, err = hlc.DecodeBinary(value[countBytes : countBytes+hlc.Size])
	}
	if err != nil {
		return tally{}, fmt.Errorf("%w: tally of turns: %w", store.ErrCorrupt, err)
	}
	return t, nil
}

// instanceBytes is an instance id as it is ordered.
func instanceBytes(text string) string {
	id, err := merge.ParseInstanceID(text)
	if err != nil {
		return text
	}
	return string(id)
}

// over returns a session as callers see it: its record and its turns.
func (t tally) over(ses Session) Session {
	if t.turns == 0 {
		return ses
	}
	ses.SyncVersion += min(t.turns, math.MaxInt64-ses.SyncVersion)
	if newer := t.stamp.Compare(ses.UpdatedHLC); newer > 0 || newer == 0 && string(t.writer) > instanceBytes(ses.LastWriterID) {
		ses.UpdatedHLC, ses.LastWriterID = t.stamp, t.writer.String()
		if at := t.stamp.Time(); at.After(ses.UpdatedAt) {
			ses.UpdatedAt = at
		}
	}
	return ses
}

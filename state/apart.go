package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// The content of a skill, a memory item or a turn is part of its body while it is
// short, and a blob of its own when it is long: the first that the record refers
// to. What callers pass and get is the same. Content that came without its blob is
// incomplete, and shows as such, until the blob has come.

// InlineBytesDefault is how long content may be that is part of a record's body:
// half of what a body may have, so that the other fields fit beside it.
const InlineBytesDefault = 32 << 10

// ContentBytesMax bounds the content of a skill, a memory item and a turn.
const ContentBytesMax = merge.BlobBytesMax

// encoded is the body of a version, and the blob that holds its content; nil when
// that is part of the body.
type encoded struct {
	body  []byte
	apart *merge.BlobRef
}

func (e encoded) blobs() []merge.BlobRef {
	if e.apart == nil {
		return nil
	}
	return []merge.BlobRef{*e.apart}
}

// apartOf returns the blob that holds the content of a record; nil when its body
// does.
func apartOf(rec *merge.Record) *merge.BlobRef {
	if len(rec.Blobs) == 0 || rec.Envelope.Deleted {
		return nil
	}
	ref := rec.Blobs[0]
	return &ref
}

// checkApart checks that a body says where its content is: in itself or in a blob.
func checkApart(rec *merge.Record, apart bool, content string) error {
	if apart && (apartOf(rec) == nil || content != "") {
		return fmt.Errorf("%w: the body of %s says that its content is a blob, and it is none", ErrInvalid, rec.Key)
	}
	return nil
}

// bodyOverheadBytes is more than a body adds to its texts.
const bodyOverheadBytes = 1 << 10

// keep stores content that is too long for a body, by itself or beside the other
// texts of the record, so that a version can refer to it; the reference is nil for
// any other. release is called once the version is written, or is not going to be.
// Errors: ErrTooLarge, those of the store.
func (p *replica) keep(ctx context.Context, content string, others ...string) (apart *merge.BlobRef, release func(), err error) {
	beside := bodyOverheadBytes + 3*len(others)
	for _, text := range others {
		beside += len(text)
	}
	if content == "" || len(content) <= p.inlineBytes && len(content)+beside <= merge.BodyBytesMax {
		return nil, func() {}, nil
	}
	if len(content) > ContentBytesMax {
		return nil, nil, fmt.Errorf("%w: content of %d bytes, at most %d", ErrTooLarge, len(content), ContentBytesMax)
	}
	ref, release, err := p.store.PutBlob(ctx, []byte(content))
	if err != nil {
		return nil, nil, fmt.Errorf("state: store content: %w", err)
	}
	return &ref, release, nil
}

// whole returns a record with its content in its body, as if it had always been
// there. What is not all here, or damaged and therefore wanted again, stays where
// it is, and decodes as incomplete. Errors: those of the store.
func whole(r *store.Reader, rec *merge.Record) (*merge.Record, error) {
	ref := apartOf(rec)
	if ref == nil {
		return rec, nil
	}
	fill := fillOf(rec)
	if fill == nil {
		return rec, nil
	}
	content, err := r.Blob(ref.Hash)
	switch {
	case errors.Is(err, store.ErrIncomplete), errors.Is(err, store.ErrCorrupt):
		return rec, nil
	case errors.Is(err, store.ErrNotFound):
		return nil, fmt.Errorf("%w: nothing refers to the content of %s", store.ErrCorrupt, rec.Key)
	case err != nil:
		return nil, fmt.Errorf("state: read the content of %s: %w", rec.Key, err)
	}
	filled := *rec
	if filled.Body, err = merge.Marshal(fill(string(content))); err != nil {
		return nil, err
	}
	return &filled, nil
}

// fillOf returns what puts content into the body of a record; nil for one whose
// body says nothing of a blob.
func fillOf(rec *merge.Record) func(content string) any {
	switch rec.Key.Kind {
	case kindSkill:
		var body skillBody
		if decodeBody(rec, &body) == nil && body.Apart {
			return func(content string) any {
				body.Body, body.Apart = content, false
				return body
			}
		}
	case kindMemory:
		var body memoryBody
		if decodeBody(rec, &body) == nil && body.Apart {
			return func(content string) any {
				body.Content, body.Apart = content, false
				return body
			}
		}
	case kindTurn:
		var body turnBody
		if decodeBody(rec, &body) == nil && body.Apart {
			return func(content string) any {
				body.Content, body.Apart = content, false
				return body
			}
		}
	}
	return nil
}

// lacking is the error of reading by name what is incomplete, and nil of what is
// not. Errors: ErrIncomplete, as an IncompleteError.
func lacking(key merge.Key, writer string, incomplete bool) error {
	if !incomplete {
		return nil
	}
	return &IncompleteError{Key: key, WriterID: writer}
}

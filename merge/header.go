package merge

import "crypto/sha256"

// Keys of the header, the CBOR map that is signed. They are never reused. A
// field marked optional is absent when it has its zero value, and a new field
// is optional. A decoder skips keys that it does not know; the received bytes
// are kept, so they survive. FORMAT.md says the same to a stranger.
const (
	headerFleet       = 1 // 32 bytes; optional
	headerKind        = 2
	headerScope       = 3 // instance, project, workspace; optional
	headerID          = 4 // array of components
	headerSyncVersion = 5
	headerOrigin      = 6 // absent when it is the writer
	headerStamp       = 7 // 48 bits of milliseconds, 16 of counter
	headerWriter      = 8
	headerDeleted     = 9  // true; optional
	headerBasis       = 10 // array of [writer, stamp], ascending
	headerBodyHash    = 11 // SHA-256
	headerBodySize    = 12 // bytes
	headerBlobs       = 13 // array of maps; optional
	headerPurge       = 14 // true; optional
)

// headerRequired has the bit of each key that every header has.
const headerRequired = 1<<headerKind | 1<<headerID | 1<<headerSyncVersion | 1<<headerStamp |
	1<<headerWriter | 1<<headerBasis | 1<<headerBodyHash | 1<<headerBodySize

// Keys of one blob reference.
const (
	blobHash     = 1 // SHA-256
	blobSize     = 2 // bytes
	blobManifest = 3 // true; optional
)

// encodeHeader builds the header of the fields, which must have been validated.
func (r *Record) encodeHeader() []byte {
	const sizeHint = 512 // a record with a few basis entries
	w := pairWriter{b: append(make([]byte, 0, sizeHint), majorMap<<5)}
	w.identity(r)
	w.envelope(r)
	bodyHash := sha256.Sum256(r.Body)
	w.key(headerBodyHash)
	w.b = appendBytes(w.b, bodyHash[:])
	w.key(headerBodySize)
	w.b = appendUint(w.b, uint64(len(r.Body)))
	if len(r.Blobs) > 0 {
		w.key(headerBlobs)
		w.b = appendBlobs(w.b, r.Blobs)
	}
	w.flag(headerPurge, r.Purge)
	return w.b
}

// pairWriter writes a map of fewer than 24 pairs with keys below 24; the first
// byte is the map's head and counts them.
type pairWriter struct{ b []byte }

func (w *pairWriter) key(k byte) {
	w.b[0]++
	w.b = append(w.b, k)
}

func (w *pairWriter) flag(k byte, set bool) {
	if set {
		w.key(k)
		w.b = append(w.b, simpleTrue)
	}
}

// identity writes the fleet and the key of the record.
func (w *pairWriter) identity(r *Record) {
	if r.Fleet != (FleetID{}) {
		w.key(headerFleet)
		w.b = appendBytes(w.b, r.Fleet[:])
	}
	w.key(headerKind)
	w.b = appendText(w.b, r.Key.Kind)
	if s := r.Key.Scope; s != (Scope{}) {
		w.key(headerScope)
		w.b = appendTexts(w.b, s.Instance, s.Project, s.Workspace)
	}
	w.key(headerID)
	w.b = appendTexts(w.b, r.Key.ID.Components()...)
}

// envelope writes the envelope and the basis.
func (w *pairWriter) envelope(r *Record) {
	env := r.Envelope
	w.key(headerSyncVersion)
	w.b = appendUint(w.b, uint64(env.SyncVersion))
	if env.OriginInstanceID != env.LastWriterID {
		w.key(headerOrigin)
		w.b = env.OriginInstanceID.appendCBOR(w.b)
	}
	w.key(headerStamp)
	w.b = appendUint(w.b, env.UpdatedHLC.Pack())
	w.key(headerWriter)
	w.b = env.LastWriterID.appendCBOR(w.b)
	w.flag(headerDeleted, env.Deleted)
	w.key(headerBasis)
	w.b = r.Basis.appendCBOR(w.b)
}

func appendTexts(b []byte, texts ...string) []byte {
	b = appendHead(b, majorArray, uint64(len(texts)))
	for _, t := range texts {
		b = appendText(b, t)
	}
	return b
}

func (b Basis) appendCBOR(dst []byte) []byte {
	dst = appendHead(dst, majorArray, uint64(len(b)))
	for _, e := range b {
		dst = appendHead(dst, majorArray, 2)
		dst = e.Writer.appendCBOR(dst)
		dst = appendUint(dst, e.Stamp.Pack())
	}
	return dst
}

func appendBlobs(b []byte, blobs []BlobRef) []byte {
	b = appendHead(b, majorArray, uint64(len(blobs)))
	for _, ref := range blobs {
		pairs := uint64(2)
		if ref.Manifest {
			pairs++
		}
		b = appendHead(b, majorMap, pairs)
		b = appendBytes(append(b, blobHash), ref.Hash[:])
		b = appendUint(append(b, blobSize), uint64(ref.Size))
		if ref.Manifest {
			b = append(b, blobManifest, simpleTrue)
		}
	}
	return b
}

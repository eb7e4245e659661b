package store

import "github.com/fleetsync/fleetd/merge"

// blobRef is the key of a row of b/r.
type blobRef struct {
	hash merge.Hash
	sec  ordinal
}

// refer counts what the record of a version refers to.
func (v *verifier) refer(k merge.Key, h *Held, rec *merge.Record) {
	if h.Blobs != (len(rec.Blobs) > 0) {
		v.wrong("%s seq %d: the record has %d blobs, its row says otherwise", k, h.Seq, len(rec.Blobs))
	}
	sec, _ := v.r.table.of(k.Section()) // what has a row has an ordinal
	for _, ref := range rec.Blobs {
		v.refs[blobRef{ref.Hash, sec}]++
	}
}

// blobs compares the rows of b/ with what versions refer to, and content with
// its hashes.
func (v *verifier) blobs() error {
	referred := map[merge.Hash]bool{}
	for ref := range v.refs {
		referred[ref.hash] = true
	}
	if err := v.note(v.blobRefs()); err != nil {
		return err
	}
	wanted := map[merge.Hash]bool{}
	err := scan(v.r.tx, []byte(prefixWanted), nil, false, func(key, _ []byte) (bool, error) {
		hash, err := blobOf(prefixWanted, key, 0)
		wanted[hash] = true
		return true, v.note(err)
	})
	if err := v.note(err); err != nil {
		return err
	}
	chunks := 0
	err = scan(v.r.tx, []byte(prefixBlob), nil, false, func(key, value []byte) (bool, error) {
		hash, err := blobOf(prefixBlob, key, 0)
		if err != nil {
			return true, v.note(err)
		}
		state, err := decodeBlob(value)
		if err != nil {
			return true, v.note(err)
		}
		chunks += int(BlobState{Size: state.Present}.chunks())
		return true, v.note(v.blob(hash, state, referred[hash], wanted))
	})
	if err := v.note(err); err != nil {
		return err
	}
	for hash := range referred {
		_, found, err := v.r.blobRow(hash)
		if err := v.note(err); err != nil {
			return err
		}
		if !found && !wanted[hash] {
			v.wrong("blob %x is not here and not wanted", hash)
		}
		delete(wanted, hash)
	}
	if len(wanted) > 0 {
		v.wrong("%d blobs are wanted that are complete or that nothing refers to", len(wanted))
	}
	return v.note(v.chunkCount(chunks))
}

// blobRefs compares b/r with the references of the versions.
func (v *verifier) blobRefs() error {
	rows := 0
	err := scan(v.r.tx, []byte(prefixBlobRef), nil, false, func(key, value []byte) (bool, error) {
		rows++
		hash, sec, err := parseBlobRefKey(key)
		if err != nil {
			return true, v.note(err)
		}
		count, err := decodeBlobRef(value)
		if want := v.refs[blobRef{hash, sec}]; err == nil && count != want {
			v.wrong("%d versions of section %d refer to blob %x, its row says %d", want, sec, hash, count)
		}
		return true, v.note(err)
	})
	if rows != len(v.refs) {
		v.wrong("%d rows under %q, want %d", rows, prefixBlobRef, len(v.refs))
	}
	return err
}

// blob checks one row of b/s; what it says of wanted is taken out of it.
func (v *verifier) blob(hash merge.Hash, state BlobState, referred bool, wanted map[merge.Hash]bool) error {
	notes := v.r.store.blobs
	if notes.isDamaged(hash) {
		v.wrong("blob %x is damaged", hash)
		return nil
	}
	if want := referred && !state.Complete(); want != wanted[hash] {
		v.wrong("blob %x, %d of %d bytes: wanted is %t", hash, state.Present, state.Size, wanted[hash])
	}
	if !referred && !notes.isKept(hash) {
		v.wrong("nothing refers to blob %x", hash)
	}
	if !state.Complete() {
		return nil
	}
	_, err := v.r.Blob(hash)
	return err
}

// chunkCount closes the circle, as rowCounts does.
func (v *verifier) chunkCount(want int) error {
	got := 0
	err := scan(v.r.tx, []byte(prefixChunk), nil, false, func(_, _ []byte) (bool, error) {
		got++
		return true, nil
	})
	if got != want {
		v.wrong("%d rows under %q, want %d", got, prefixChunk, want)
	}
	return err
}

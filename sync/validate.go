package sync

import (
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

func (m *Hello) validate() error {
	if len(m.Fleet) != len(merge.FleetID{}) || len(m.Store) != len(store.ID{}) {
		return fmt.Errorf("%w: hello with a fleet id of %d and a store id of %d bytes", ErrMalformed, len(m.Fleet), len(m.Store))
	}
	return m.Heads.validate()
}

func (m *Heartbeat) validate() error {
	if len(m.Echo) > saltBytes {
		return fmt.Errorf("%w: echo of %d bytes", ErrMalformed, len(m.Echo))
	}
	return m.Heads.validate()
}

func (h *Heads) validate() error {
	if len(h.Salt) != saltBytes || len(h.Sections) > sectionsMax || max(len(h.Withheld), len(h.WithheldSections)) > sectionsMax {
		return fmt.Errorf("%w: heads with %d bytes of salt, %d sections", ErrMalformed, len(h.Salt), len(h.Sections))
	}
	if _, err := hlc.Unpack(h.Clock); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if h.Time > hlc.WallMax {
		return fmt.Errorf("%w: time %d", ErrMalformed, h.Time)
	}
	for _, id := range h.WithheldSections {
		if _, err := merge.ParseSectionID(id); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	for _, s := range h.Sections {
		if _, err := merge.ParseSectionID(s.Section); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		if len(s.Root) != 0 && len(s.Root) != rootBytes {
			return fmt.Errorf("%w: root of %d bytes", ErrMalformed, len(s.Root))
		}
	}
	return nil
}

func (m *Changes) validate() error { return validateSection(m.Section) }

func (m *ChangesPage) validate() error {
	if len(m.Entries) > entriesMax || len(m.Records) > entriesMax {
		return fmt.Errorf("%w: page of %d entries, %d records", ErrTooLarge, len(m.Entries), len(m.Records))
	}
	for _, e := range m.Entries {
		if len(e.Hash) != len(merge.Hash{}) {
			return fmt.Errorf("%w: item hash of %d bytes", ErrMalformed, len(e.Hash))
		}
		if _, err := hlc.Unpack(e.Stamp); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	return nil
}

func (m *CursorInvalid) validate() error { return validateText(m.Reason) }

func (m *Get) validate() error {
	if len(m.Refs) > refsMax || len(m.Tags) > refsMax*tagBytes {
		return fmt.Errorf("%w: get of %d keys, %d bytes of tags", ErrTooLarge, len(m.Refs), len(m.Tags))
	}
	if len(m.Tags) > 0 && (len(m.Tags)%tagBytes != 0 || len(m.Salt) != saltBytes || len(m.Refs) > 0) {
		return fmt.Errorf("%w: get of %d bytes of tags under %d of salt, and %d keys", ErrMalformed, len(m.Tags), len(m.Salt), len(m.Refs))
	}
	if len(m.After) > positionBytesMax || len(m.UpTo) > positionBytesMax {
		return fmt.Errorf("%w: get between positions of %d and %d bytes", ErrMalformed, len(m.After), len(m.UpTo))
	}
	return validateSection(m.Section)
}

func (m *Records) validate() error {
	if len(m.Records) > refsMax || m.Answered > refsMax {
		return fmt.Errorf("%w: answer of %d records", ErrTooLarge, len(m.Records))
	}
	return nil
}

func (m *PageReq) validate() error {
	if len(m.After) > positionBytesMax || len(m.UpTo) > positionBytesMax {
		return fmt.Errorf("%w: page between positions of %d and %d bytes", ErrMalformed, len(m.After), len(m.UpTo))
	}
	return validateSection(m.Section)
}

func (m *Page) validate() error {
	if len(m.Sum) != sumBytes {
		return fmt.Errorf("%w: page sum of %d bytes", ErrMalformed, len(m.Sum))
	}
	if len(m.Last) == 0 && !m.Done {
		return fmt.Errorf("%w: page that neither ends nor goes on", ErrMalformed)
	}
	return nil
}

func (m *BlobGet) validate() error {
	if len(m.Hash) != len(merge.Hash{}) || m.Offset >= merge.BlobBytesMax {
		return fmt.Errorf("%w: blob asked for by %d bytes of hash, from %d", ErrMalformed, len(m.Hash), m.Offset)
	}
	return validateSection(m.Section)
}

func (m *Blob) validate() error {
	if m.Size > merge.BlobBytesMax || len(m.Bytes) > store.ChunkBytes {
		return fmt.Errorf("%w: %d bytes of a blob of %d", ErrTooLarge, len(m.Bytes), m.Size)
	}
	if uint64(len(m.Bytes)) > m.Size {
		return fmt.Errorf("%w: %d bytes of a blob of %d", ErrMalformed, len(m.Bytes), m.Size)
	}
	return nil
}

func (m *Busy) validate() error  { return nil }
func (m *Error) validate() error { return validateText(m.Text) }
func (m *Bye) validate() error   { return validateText(m.Reason) }

func validateSection(id string) error {
	if _, err := merge.ParseSectionID(id); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

func validateText(s string) error {
	if len(s) > textBytesMax {
		return fmt.Errorf("%w: text of %d bytes", ErrTooLarge, len(s))
	}
	return nil
}

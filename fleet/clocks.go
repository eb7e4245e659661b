package fleet

import (
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// CheckClocks compares what the clocks of joiner and inviter say at one moment.
// A zero time is one that was not told. Errors: ErrClock when they differ by
// more than hlc.DriftMax; nobody can tell which of them is wrong, so the text
// names both.
func CheckClocks(joiner, inviter time.Time) error {
	if joiner.IsZero() || inviter.IsZero() {
		return nil
	}
	gap, which := inviter.Sub(joiner), "behind"
	if gap < 0 {
		gap, which = -gap, "ahead of"
	}
	if gap <= hlc.DriftMax {
		return nil
	}
	const form = "2006-01-02 15:04:05Z"
	return fmt.Errorf("%w: the joiner's is %s %s the inviter's: %s against %s", ErrClock, gap.Round(time.Second), which,
		joiner.UTC().Format(form), inviter.UTC().Format(form))
}

// wireTime is the form of a time that may be missing, in milliseconds since
// 1970; 0 for one that is.
func wireTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// readTime is the inverse of wireTime. Errors: ErrMalformed.
func readTime(ms int64) (time.Time, error) {
	if ms < 0 || ms > hlc.WallMax {
		return time.Time{}, fmt.Errorf("%w: time %d", ErrMalformed, ms)
	}
	if ms == 0 {
		return time.Time{}, nil
	}
	return time.UnixMilli(ms).UTC(), nil
}

// CheckStamps makes sure that statements are not too far in the future for a
// joiner to merge them now: the fleet's newest stamp may be ahead of the
// inviter's clock. Errors: ErrClock, ErrMalformed.
func CheckStamps(statements [][]byte, joiner time.Time) error {
	for _, b := range statements {
		rec, err := merge.Decode(b)
		if err != nil {
			return fmt.Errorf("%w: statement: %w", ErrMalformed, err)
		}
		if ahead := rec.Envelope.UpdatedHLC.Time().Sub(joiner); ahead > hlc.DriftMax {
			return fmt.Errorf("%w: the fleet's newest stamp is %s ahead of the joiner's, which says %s",
				ErrClock, ahead.Round(time.Second), joiner.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

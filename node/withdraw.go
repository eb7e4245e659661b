package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

var (
	// ErrNoVersion is returned for a version that is not here.
	ErrNoVersion = errors.New("node: no such version")
	// ErrNotWithdrawable is returned for a version that has no text.
	ErrNotWithdrawable = errors.New("node: not to be withdrawn")
)

// WithdrawRequest names a version of a skill.
type WithdrawRequest struct {
	// Key is that of the skill.
	Key merge.Key
	// Stamp and Writer, a name or id, are those of the version; when both are zero
	// it is the head.
	Stamp  hlc.Timestamp
	Writer string
	// Note is for people: printable, at most 256 bytes.
	Note string
}

// Withdrawn is what a withdrawal did.
type Withdrawn struct {
	Note string
	// By is who issued it: the name of this instance, or "root".
	By string
	// Versions are those that count no more: the one that was named, and all others
	// of the skill here that say the same.
	Versions []merge.Version
	// Content is the digest of what they say, see state.SkillDigest; zero when they
	// break the rules of the kind.
	Content [sha256.Size]byte
	// Retracted counts the versions that are held no more, and Restored those that
	// they had covered and that are held again.
	Retracted, Restored int
	// Told are the members that hear of it now, Later those that do when they
	// come back, by name.
	Told, Later []string
}

// Withdraw takes a version of a skill back, for ever and in the whole fleet:
// nobody shows it, what it had covered shows again, and a node that knows takes
// the same text from no agent of its own. Admins may, and root. Errors:
// state.ErrNotFound, ErrNoVersion, ErrNotWithdrawable, ErrNoMember, ErrDenied,
// fleet.ErrMalformed, that of ctx; those of the store, and then it may be written.
func (n *Node) Withdraw(ctx context.Context, req WithdrawRequest) (Withdrawn, error) {
	digests, out, err := n.saysTheSame(req)
	if err != nil {
		return Withdrawn{}, err
	}
	out.Note = req.Note
	recs := make([]merge.Record, 0, len(digests))
	for _, digest := range digests {
		rec, by, err := n.seal(func(issuer fleet.Signer, stamp hlc.Timestamp) (merge.Record, error) {
			return fleet.SealBan(n.Fleet(), issuer, fleet.Ban{Digest: digest, Kind: req.Key.Kind, Content: out.Content, Note: req.Note}, stamp)
		})
		if err != nil {
			return Withdrawn{}, err
		}
		recs, out.By = append(recs, rec), by
	}
	result, err := n.declare(ctx, recs...)
	out.Retracted, out.Restored = result.Retracted, result.Restored
	if err != nil {
		return out, err
	}
	out.Told, out.Later = n.hearers(func(*fleet.Member) bool { return false })
	n.log.Warn("skill version withdrawn", "key", req.Key.String(), "count", len(out.Versions))
	return out, nil
}

// saysTheSame finds the version that is meant and all of its skill, held or
// covered, that say the same, and returns their digests.
func (n *Node) saysTheSame(req WithdrawRequest) (digests []merge.Hash, out Withdrawn, err error) {
	var writer merge.InstanceID
	if req.Writer != "" {
		m, err := n.memberOf(req.Writer)
		if err != nil {
			return nil, out, err
		}
		writer = m.ID
	}
	err = n.store.View(func(r *store.Reader) error {
		known, err := recordsOf(r, req.Key)
		if err != nil {
			return err
		}
		meant := versionAt(known, writer, req.Stamp)
		switch {
		case meant < 0:
			return fmt.Errorf("%w: %s has no version of %s by %s here", ErrNoVersion, req.Key, req.Stamp, req.Writer)
		case known[meant].Envelope.Deleted:
			return fmt.Errorf("%w: that version of %s is a delete, which says nothing: name one by its stamp and writer", ErrNotWithdrawable, req.Key)
		}
		content, isWhole := state.SkillDigest(&known[meant])
		out.Content = content
		for i := range known {
			other, ok := state.SkillDigest(&known[i])
			if i == meant || isWhole && ok && other == content {
				digests = append(digests, fleet.Digest(&known[i]))
				out.Versions = append(out.Versions, known[i].Version())
			}
		}
		return nil
	})
	if err != nil {
		return nil, out, err
	}
	return digests, out, nil
}

// versionAt finds a version among those of recordsOf: the head for no writer; -1
// when there is none.
func versionAt(known []merge.Record, writer merge.InstanceID, stamp hlc.Timestamp) int {
	if writer == "" {
		return 0
	}
	return slices.IndexFunc(known, func(r merge.Record) bool {
		return r.Envelope.LastWriterID == writer && r.Envelope.UpdatedHLC == stamp
	})
}

// recordsOf reads every version of a key that counts, held ones before covered
// ones, the head first. Errors: state.ErrNotFound when there is none.
func recordsOf(r *store.Reader, key merge.Key) (records []merge.Record, err error) {
	held, err := r.Held(key)
	if err != nil {
		return nil, fmt.Errorf("node: read %s: %w", key, err)
	}
	if len(held) == 0 {
		return nil, fmt.Errorf("%w: %s", state.ErrNotFound, key)
	}
	past, err := r.History(key)
	if err != nil {
		return nil, fmt.Errorf("node: read the history of %s: %w", key, err)
	}
	load := func(h store.Held) error {
		rec, err := r.Load(key, h)
		if err != nil {
			return fmt.Errorf("node: read %s: %w", key, err)
		}
		records = append(records, rec)
		return nil
	}
	for i := len(held) - 1; i >= 0; i-- { // the head is the last
		if err := load(held[i]); err != nil {
			return nil, err
		}
	}
	for i := range past {
		if err := load(past[i].Held); err != nil {
			return nil, err
		}
	}
	return records, nil
}

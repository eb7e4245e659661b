package state

import (
	"cmp"
	"fmt"
)

// What a log or a snapshot of the caller's says is checked like what a record of
// others says: an image that breaks the rules of its kind would be one that no
// provider can hold.

func (ses *Session) check() error {
	return cmp.Or(checkName(ses.ID, idText), ses.Envelope.check())
}

func (t *Turn) check() error {
	if !t.Deleted && t.Seq < 1 {
		return fmt.Errorf("%w: turn %.60q has the sequence number %d", ErrInvalid, t.ID, t.Seq)
	}
	return cmp.Or(checkName(t.SessionID, idText), checkName(t.ID, idText), t.Envelope.check())
}

func (sk *Skill) check() error {
	switch {
	case sk.Version < 1:
		return fmt.Errorf("%w: skill %.60q has content version %d", ErrInvalid, sk.Slug, sk.Version)
	case min(sk.Uses, sk.Wins) < 0:
		return fmt.Errorf("%w: skill %.60q has uses %d, wins %d", ErrInvalid, sk.Slug, sk.Uses, sk.Wins)
	}
	return cmp.Or(checkScope(sk.Scope), checkName(sk.Slug, slugText), checkName(sk.ID, idText), sk.Envelope.check())
}

func (it *MemoryItem) check() error {
	return cmp.Or(checkScope(it.Scope), checkName(it.ID, idText), it.Envelope.check())
}

func (o *Outcome) check() error {
	return cmp.Or(
		checkScope(o.Scope), checkName(o.Slug, slugText), checkName(o.StoreID, storeText),
		checkCounts(o.Uses, o.Wins), o.Envelope.check(),
	)
}

func (e *Envelope) check() error {
	switch {
	case e.SyncVersion < 1:
		return fmt.Errorf("%w: sync version %d", ErrInvalid, e.SyncVersion)
	case e.UpdatedHLC.IsZero():
		return fmt.Errorf("%w: no stamp", ErrInvalid)
	}
	return nil
}

// checkName returns ErrInvalid for a part of a key that breaks a rule, or that the
// rule would change.
func checkName(name string, rule func(string) (string, error)) error {
	normal, err := rule(name)
	if err == nil && normal != name {
		err = fmt.Errorf("%w: %.60q is not in form NFC", ErrInvalid, name)
	}
	return err
}

func checkScope(s Scope) error {
	normal, err := scopeText(s)
	if err == nil && normal != s {
		err = fmt.Errorf("%w: scope %s is not in form NFC", ErrInvalid, s)
	}
	return err
}

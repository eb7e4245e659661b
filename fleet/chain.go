package fleet

import (
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// Chain returns the statements that prove a statement to somebody who knows
// nothing but the fleet id: what makes its issuer an admin, or a member when it
// is a succession, unless that is root, then itself. Each comes after those
// that it stands on. It returns nil for a statement that is not admitted.
func (a *Authority) Chain(rec *merge.Record) []*merge.Record {
	s := a.snapshot.Load()
	if rec.Key.Family() != Family {
		return nil
	}
	st, err := read(rec)
	if err != nil || !s.judgeStatement(st).Admitted {
		return nil
	}
	chain := s.prove(st, nil)
	recs := make([]*merge.Record, 0, len(chain))
	for _, link := range chain {
		recs = append(recs, link.rec)
	}
	return recs
}

// prove appends what a statement stands on, and itself, to a chain.
func (s *snapshot) prove(st *stated, chain []*stated) []*stated {
	if slices.Contains(chain, st) {
		return chain
	}
	if !st.byRoot {
		k := s.keys[st.issuer()]
		g, _ := k.admin(st.stamp())
		if g == nil {
			g = k.grantAt(st.stamp()) // of a member that hands over its key
		}
		chain = s.prove(g, chain)
		var links []*stated // from the holder of the grant to the issuer
		for at := k; !slices.Contains(at.own, g); at = at.predecessor {
			links = append(links, at.succession)
		}
		for _, link := range slices.Backward(links) {
			chain = s.prove(link, chain)
		}
	}
	return append(chain, st)
}

// VerifyChain is the joiner's check of a reply, offline and from nothing but
// its ticket: the inviter proves the secret, and the statements lead from the
// fleet's root to a grant for self. name is the one that it asked for, empty
// when it left it to the ticket. The result holds exactly the statements of
// the reply, to be stored by the caller. Errors: the refusal of the reply
// (JoinReply.Err), ErrProof, ErrChain.
func VerifyChain(reply JoinReply, t Ticket, self merge.InstanceID, name string) (*Authority, error) {
	if err := reply.Err(); err != nil {
		return nil, err
	}
	h := Handshake{Joiner: self, Inviter: t.Inviter, Fleet: t.Fleet, Name: reply.Name}
	if !h.InviterProof(t.Secret).Equal(reply.Proof) {
		return nil, ErrProof
	}
	if name != "" && reply.Name != name {
		return nil, fmt.Errorf("%w: it grants the name %q, asked for was %q", ErrChain, reply.Name, name)
	}
	recs := make([]*merge.Record, 0, len(reply.Statements))
	for _, b := range reply.Statements {
		rec, err := verifyStatement(b, t.Fleet)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrChain, err)
		}
		recs = append(recs, &rec)
	}
	a := NewAuthority(t.Fleet)
	if _, err := a.LearnAll(recs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChain, err)
	}
	for _, rec := range recs {
		if j := a.Judge(rec); !j.Admitted {
			return nil, fmt.Errorf("%w: %s: %s", ErrChain, rec.Key, j.Reason)
		}
	}
	m, _ := a.Member(self) // nobody has no grants
	if !slices.ContainsFunc(m.Grants, func(g Granted) bool { return g.Name == reply.Name }) {
		return nil, fmt.Errorf("%w: no grant for %s as %q", ErrChain, self, reply.Name)
	}
	return a, nil
}

// verifyStatement decodes one statement and checks everything but authority.
func verifyStatement(b []byte, fleet merge.FleetID) (merge.Record, error) {
	rec, err := merge.Decode(b)
	if err != nil {
		return merge.Record{}, err
	}
	if err := Check(&rec, fleet); err != nil {
		return merge.Record{}, err
	}
	if !VerifyOne(&rec) {
		return merge.Record{}, fmt.Errorf("%w: signature of %s", ErrMalformed, rec.Key)
	}
	return rec, nil
}

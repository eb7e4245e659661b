package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// withheldShown is how many of what a member does not share are named.
const withheldShown = 5

// explain adds to the state of a member that answers why it is so.
func (m *Member) explain(s *fleetsync.PeerState) {
	m.Progress = s.Pull
	switch {
	case s.IsBusy:
		m.because("it is busy")
	case s.IsWaiting:
		m.because("it waits for its turn, others are fetched from")
	}
	if s.IsRefused {
		m.because("there is no room here for more of it that is parked")
	}
	withheld := slices.Clone(s.Withholds)
	for _, section := range s.WithholdsSections {
		withheld = append(withheld, sectionName(section))
	}
	if more := len(withheld) - withheldShown; more > 0 {
		withheld = append(withheld[:withheldShown], fmt.Sprintf("and %d more", more))
	}
	if len(withheld) > 0 {
		m.because("it does not share " + strings.Join(withheld, ", "))
	}
}

// ParkedCounts are how many versions are parked for each reason.
type ParkedCounts map[store.Reason]int

// String says how many are parked and why.
func (c ParkedCounts) String() string {
	var texts []string
	for _, r := range [...]struct {
		reason store.Reason
		text   string
	}{
		{store.ReasonAuthority, "without authority"},
		{store.ReasonFuture, "ahead of time"},
		{store.ReasonBanned, "of banned members"},
		{store.ReasonFloor, "older than a delete that was collected"},
		{store.ReasonWithdrawn, "withdrawn"},
		{store.ReasonClosed, "of a key that was succeeded"},
	} {
		if n := c[r.reason]; n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, r.text))
		}
	}
	return strings.Join(texts, ", ")
}

// unsettled is what a store holds that is not as it will be.
type unsettled struct {
	conflicts, parked, wantedBlobs int
	parkedFor                      ParkedCounts
	parkedFrom                     map[merge.InstanceID]ParkedCounts // by who brought them, or wrote them
}

// unsettled counts conflicts, parked versions and blobs that are to be fetched.
func (n *Node) unsettled() (unsettled, error) {
	u := unsettled{parkedFor: ParkedCounts{}, parkedFrom: map[merge.InstanceID]ParkedCounts{}}
	err := n.store.View(func(r *store.Reader) (err error) {
		if u.wantedBlobs, err = r.WantedCount(); err != nil {
			return err
		}
		if err := r.Conflicts(func(_ merge.Key, held []store.Held) bool {
			u.conflicts += len(held) - 1
			return true
		}); err != nil {
			return err
		}
		return r.Parked(func(p store.Parked) bool {
			u.parked++
			u.parkedFor[p.Reason]++
			from := p.From
			if from == "" { // gossip does not say who held it
				from = p.Record.Envelope.LastWriterID
			}
			if u.parkedFrom[from] == nil {
				u.parkedFrom[from] = ParkedCounts{}
			}
			u.parkedFrom[from][p.Reason]++
			return true
		})
	})
	if err != nil {
		return unsettled{}, fmt.Errorf("node: status: %w", err)
	}
	return u, nil
}

// tell says of the members that are not in sync what of theirs is parked here: it
// was received, and is not held.
func (u *unsettled) tell(members []Member) {
	for i := range members {
		m := &members[i]
		isApart := m.State == MemberSyncing || m.State == MemberAhead || m.State == MemberBehind
		if parked := u.parkedFrom[m.ID]; len(parked) > 0 && isApart {
			m.because("parked here: " + parked.String())
		}
	}
}

// sectionName is a section as a sentence names it.
func sectionName(s merge.Section) string {
	parts := []string{s.Family}
	for _, part := range []string{s.Scope.Project, s.Scope.Workspace, s.Scope.Instance} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " of ")
}

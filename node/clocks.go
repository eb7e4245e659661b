package node

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// skewShown is from which difference of two clocks a status names it: what a
// peer tells of its own may have waited behind a page of an exchange.
const skewShown = time.Minute

// clockTrouble says what a clock has to do with a connection that could not be
// made; empty for nothing. The certificate of a host holds from an hour before
// its start, and its library passes on as text alone that one does not yet.
func clockTrouble(err error) string {
	if err == nil {
		return ""
	}
	_, detail, found := strings.Cut(err.Error(), (&x509.CertificateInvalidError{Reason: x509.Expired}).Error()+"current time ")
	if !found {
		return ""
	}
	var now, from string
	if n, _ := fmt.Sscanf(detail, "%s is before %s", &now, &from); n < 2 { // the count tells
		return ""
	}
	least := time.Hour
	if now, err := time.Parse(time.RFC3339, now); err == nil {
		from, _, _ = strings.Cut(from, "Z") // it is UTC
		if from, err := time.Parse(time.RFC3339, from+"Z"); err == nil {
			least += from.Sub(now).Round(time.Minute)
		}
	}
	return fmt.Sprintf("this machine's clock is behind that of the other by %s or more: it says %s", least, now)
}

// ownSkew returns by how much this machine's clock is ahead of those of its
// peers, and how many have told: the median, which a minority cannot move.
func ownSkew(peers []fleetsync.PeerState) (ahead time.Duration, told int) {
	var skews []time.Duration
	for i := range peers {
		if peers[i].Greeted {
			skews = append(skews, -peers[i].Skew)
		}
	}
	if len(skews) == 0 {
		return 0, 0
	}
	slices.Sort(skews)
	// Of an even number the one that accuses less.
	low, high := skews[(len(skews)-1)/2], skews[len(skews)/2]
	if low.Abs() < high.Abs() {
		return low, len(skews)
	}
	return high, len(skews)
}

// ownClock says that this machine's clock differs from those of most others;
// empty when it does not, or fewer than two have told.
func ownClock(peers []fleetsync.PeerState) string {
	ahead, told := ownSkew(peers)
	if told < 2 || ahead.Abs() < skewShown {
		return ""
	}
	word := "ahead of"
	if ahead < 0 {
		word = "behind"
	}
	return fmt.Sprintf("this machine's clock is %s %s those of the other members (the median of %d): set it", ahead.Abs().Round(time.Second), word, told)
}

// skewOf says that the clock of a peer and the own one differ; empty when they
// do not, or nobody knows.
func skewOf(p *fleetsync.PeerState, clock *hlc.Clock) string {
	skew := p.Skew
	if drift := clock.Drift(p.Clock); drift > hlc.DriftMax {
		skew = max(skew, drift) // what it has stamped or merged cannot be merged here
	}
	switch {
	case skew >= skewShown:
		return "its clock is " + skew.Round(time.Second).String() + " ahead of this machine's"
	case skew <= -skewShown:
		return "its clock is " + (-skew).Round(time.Second).String() + " behind this machine's"
	}
	return ""
}

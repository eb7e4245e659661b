package node

import (
	"crypto/x509"
	"fmt"
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

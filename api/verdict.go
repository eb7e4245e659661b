package api

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
)

// namesMax bounds how many members a verdict names.
const namesMax = 3

// verdict says whether the fleet is in sync and, when not, who is behind, by
// how much and since when.
func verdict(members []wire.Member, now time.Time) (inSync bool, text string) {
	others, equal := 0, 0
	var reasons []string
	for _, m := range members {
		if m.State == wire.StateSelf {
			continue
		}
		others++
		if m.State == wire.StateInSync {
			equal++
			continue
		}
		reasons = append(reasons, reason(m, now))
	}
	switch {
	case others == 0:
		return true, "in sync: this node is the whole fleet"
	case equal == others:
		return true, fmt.Sprintf("in sync with %d of %d members", equal, others)
	}
	more := ""
	if len(reasons) > namesMax {
		more = fmt.Sprintf("; and %d more", len(reasons)-namesMax)
		reasons = reasons[:namesMax]
	}
	return false, fmt.Sprintf("in sync with %d of %d members: %s%s", equal, others, strings.Join(reasons, "; "), more)
}

// reason says what is the matter with one member.
func reason(m wire.Member, now time.Time) string {
	var parts []string
	switch m.State {
	case wire.StateOffline:
		parts = append(parts, m.Name+" is offline")
	default:
		parts = append(parts, m.Name+" is not equal yet")
	}
	if m.Behind > 0 {
		parts = append(parts, fmt.Sprintf("this node lacks up to %d of its versions", m.Behind))
	}
	if m.Lacks > 0 {
		parts = append(parts, fmt.Sprintf("it lacks %d versions", m.Lacks))
	}
	if m.Since != nil {
		parts[0] += " since " + age(now.Sub(*m.Since))
	}
	return strings.Join(parts, ", ")
}

// age is a duration for people, in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "a moment"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

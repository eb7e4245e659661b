package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// numbers lists a set, ascending.
func numbers(set map[int]bool) []int { return slices.Sorted(maps.Keys(set)) }

// concerned names the replicas that an event concerns.
func concerned(e simulation.Event) string {
	switch {
	case e.Group != 0:
		var members []string
		for n := range 64 {
			if e.Group>>n&1 != 0 {
				members = append(members, strconv.Itoa(n))
			}
		}
		return "replicas " + strings.Join(members, ", ") + " and the others"
	case e.Replica == simulation.Nobody && e.Count > 0:
		return fmt.Sprintf("the first %s and the others", plural(e.Count, "replica"))
	case e.Replica == simulation.Nobody:
		return "all"
	case e.Peer == simulation.Nobody:
		return fmt.Sprintf("replica %d", e.Replica)
	}
	return fmt.Sprintf("replicas %d and %d", e.Replica, e.Peer)
}

// textOf says what an event tells besides its kind.
func textOf(e simulation.Event) string {
	switch e.Kind {
	case simulation.EventWrite:
		if e.Deleted {
			return "deletes " + e.Key.String()
		}
		return "writes " + e.Key.String()
	case simulation.EventCommit:
		return fmt.Sprintf("takes in %s by %s", plural(e.Count, "version"), e.Route)
	case simulation.EventFaultBegin:
		return fmt.Sprintf("%s begins: %s", e.Fault, concerned(e))
	case simulation.EventFaultEnd:
		return fmt.Sprintf("%s ends: %s", e.Fault, concerned(e))
	case simulation.EventJump:
		return "everybody sleeps for " + duration(e.At-e.Since)
	case simulation.EventHeal:
		return "all faults end"
	case simulation.EventConverged:
		return "one fleet, " + duration(e.At-e.Since) + " after the last fault"
	case simulation.EventConnect:
		return "connection begins"
	case simulation.EventDisconnect:
		return "connection ends"
	case simulation.EventStart:
		return "starts"
	case simulation.EventStop:
		return "dies"
	case simulation.EventLeave:
		return "goes away"
	case simulation.EventReturn:
		return "is back"
	default:
		return firstLine(e.Text)
	}
}

// firstLine leaves out what is for whoever looks closer, as roots and stacks.
func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(int64(n)) + " " + noun + "s"
}

// count writes a number with commas between thousands.
func count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// duration writes a duration for people: three digits at most, or days and
// hours.
func duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + duration(-d)
	case d == 0:
		return "0 s"
	case d < time.Second:
		return decimal(float64(d)/float64(time.Millisecond), 3) + " ms"
	case d < 2*time.Minute:
		return decimal(d.Seconds(), 3) + " s"
	case d < 2*time.Hour:
		return decimal(d.Minutes(), 3) + " min"
	case d < 48*time.Hour:
		return decimal(d.Hours(), 3) + " h"
	}
	return decimal(d.Hours()/24, 3) + " d"
}

// size writes a number of bytes for people.
func size(n float64) string {
	for _, unit := range []string{"B", "kB", "MB"} {
		if n < 1000 {
			return decimal(n, 3) + " " + unit
		}
		n /= 1000
	}
	return decimal(n, 3) + " GB"
}

// decimal writes a number with some digits, without trailing zeros.
func decimal(v float64, digits int) string {
	whole := len(strconv.FormatFloat(v, 'f', 0, 64))
	text := strconv.FormatFloat(v, 'f', max(digits-whole, 0), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// clock writes a moment to the millisecond, as traces do within a day.
func clock(d time.Duration) string {
	const day = 24 * time.Hour
	text := ""
	if d >= day {
		text = fmt.Sprintf("%dd ", d/day)
		d %= day
	}
	return text + fmt.Sprintf("%02d:%02d:%02d.%03d", d/time.Hour, d/time.Minute%60, d/time.Second%60, d/time.Millisecond%1000)
}

// roundUp returns the next larger round duration, at least 50 ms.
func roundUp(d time.Duration) time.Duration {
	for _, round := range roundDurations() {
		if round >= 50*time.Millisecond && d <= round {
			return round
		}
	}
	const day = 24 * time.Hour
	return (d + day - 1) / day * day
}

// roundDurations are the steps that axes and buckets of time have, ascending.
func roundDurations() []time.Duration {
	const day = 24 * time.Hour
	var all []time.Duration
	for _, unit := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
		all = append(all, unit, 2*unit, 5*unit)
	}
	for _, unit := range []time.Duration{time.Second, time.Minute} {
		all = append(all, unit, 2*unit, 5*unit, 10*unit, 15*unit, 30*unit)
	}
	return append(all, time.Hour, 2*time.Hour, 3*time.Hour, 6*time.Hour, 12*time.Hour, day, 2*day, 5*day, 7*day, 14*day, 30*day, 90*day)
}

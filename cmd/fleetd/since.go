package main

import (
	"errors"
	"regexp"
	"strconv"
	"time"

	"github.com/fleetsync/fleetd/hlc"
)

// sinceFlag is the value of --since: a time that has been.
type sinceFlag struct{ time.Time }

func (s *sinceFlag) String() string {
	if s.IsZero() {
		return ""
	}
	return s.Format(time.RFC3339)
}

func (s *sinceFlag) Set(text string) error {
	at, err := parseSince(text, time.Now())
	if err == nil {
		s.Time = at
	}
	return err
}

func (*sinceFlag) Type() string { return "time" }

// stamp is the first stamp of that time.
func (s *sinceFlag) stamp() string { return hlc.Timestamp{Wall: s.UnixMilli()}.String() }

// days finds a duration in days, which package time does not read.
var days = regexp.MustCompile(`^([0-9]{1,5})d$`)

// parseSince reads a time, in the zone of this machine unless it says one, or
// how long before now it was.
func parseSince(text string, now time.Time) (time.Time, error) {
	at, err := time.Time{}, errors.New("want a time such as 2026-11-30 or \"2026-11-30 09:00\", or a duration such as 90m, 2h or 3d")
	if found := days.FindStringSubmatch(text); found != nil {
		n, _ := strconv.Atoi(found[1]) // it is digits
		at = now.AddDate(0, 0, -n)
	} else if ago, errDuration := time.ParseDuration(text); errDuration == nil {
		at = now.Add(-ago)
	} else {
		for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
			if parsed, errTime := time.ParseInLocation(layout, text, now.Location()); errTime == nil {
				at = parsed
				break
			}
		}
	}
	switch {
	case at.IsZero():
		return at, err
	case at.After(now):
		return at, errors.New("it lies ahead: want a time that has been")
	case at.UnixMilli() < 0:
		return at, errors.New("it lies before 1970")
	}
	return at, nil
}

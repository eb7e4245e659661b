package main

import (
	"testing"
	"time"
)

func TestSinceIsATimeOrHowLongAgo(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.FixedZone("here", 3600))
	for text, want := range map[string]time.Time{
		"90m":                       now.Add(-90 * time.Minute),
		"1h30m":                     now.Add(-90 * time.Minute),
		"3d":                        now.AddDate(0, 0, -3),
		"0s":                        now,
		"2026-11-30":                now.Add(-12 * time.Hour),
		"2026-11-30 09:00":          now.Add(-3 * time.Hour),
		"2026-11-30 09:00:30":       now.Add(-3*time.Hour + 30*time.Second),
		"2026-11-30T09:00":          now.Add(-3 * time.Hour),
		"2026-11-30T09:00:00Z":      now.Add(-2 * time.Hour),
		"2026-11-30T09:00:00+01:00": now.Add(-3 * time.Hour),
	} {
		if got, err := parseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "-2h", "2026-12-01", "2026-13-01", "1960-01-01", "d", "3 d", "99999999h", "\x1b"} {
		if got, err := parseSince(text, now); err == nil {
			t.Errorf("%q is %s, want an error", text, got)
		}
	}
	flag := sinceFlag{time.UnixMilli(1790000000000)}
	if got := flag.stamp(); got != "1790000000000.0" {
		t.Errorf("stamp %s", got)
	}
}

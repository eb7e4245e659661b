package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/api/wire"
)

// parkedText says how many versions are parked and why.
func parkedText(status *wire.Status) string {
	text := fmt.Sprintf("%d parked", status.Parked)
	meanings := map[string]string{
		"authority": "without authority", "future": "ahead of time",
		"banned": "of banned members", "floor": "older than a delete that was collected",
	}
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(status.ParkedFor)) {
		meaning, known := meanings[reason]
		if !known {
			meaning = oneLine(reason)
		}
		reasons = append(reasons, fmt.Sprintf("%d %s", status.ParkedFor[reason], meaning))
	}
	if len(reasons) > 0 {
		text += " (" + strings.Join(reasons, ", ") + ")"
	}
	return text
}

// progressText says what is being fetched, and how far it has come.
func progressText(w io.Writer, status *wire.Status) {
	for _, m := range status.Members {
		p := m.Progress
		if p == nil {
			continue
		}
		verb := "fetching"
		if p.Join {
			verb = "joining"
		}
		say(w, "%s: %s %s of %s, from %s", verb, sectionText(p.Family, p.Scope),
			grouped(int64(p.Received)), grouped(int64(p.Expected)), oneLine(m.Name))
	}
	if status.WantedBlobs > 0 {
		say(w, "waiting for %s", counted(status.WantedBlobs, "blob"))
	}
	if status.Held > 0 {
		say(w, "%s held back for secrets: fleetd secrets list", counted(status.Held, "record"))
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api/wire"
)

func TestStatusSaysHowFarAJoinHasCome(t *testing.T) {
	status := wire.Status{
		Parked: 3, ParkedFor: map[string]int{"future": 1, "authority": 2}, WantedBlobs: 2,
		Members: []wire.Member{
			{Name: "me"},
			{Name: "desk", Progress: &wire.Progress{Family: "memory", Received: 31_200, Expected: 50_000, Join: true}},
			{Name: "nas", Progress: &wire.Progress{Family: "skill", Scope: wire.Scope{Project: "web"}, Received: 1, Expected: 2}},
		},
	}
	var out strings.Builder
	progressText(&out, &status)
	want := "joining: memory 31,200 of 50,000, from desk\nfetching: skill of project web 1 of 2, from nas\nwaiting for 2 blobs\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if got, want := parkedText(&status), "3 parked (2 without authority, 1 ahead of time)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := parkedText(&wire.Status{}); got != "0 parked" {
		t.Errorf("%q", got)
	}
}

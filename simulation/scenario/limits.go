package scenario

import "time"

// Bounds of a scenario. Each is there so that a mistyped number is an error
// and not an afternoon.
const (
	// bytesMax bounds the text before it is parsed.
	bytesMax = 64 << 10
	// depthMax bounds nested brackets: the parser's time grows with the square.
	depthMax = 16

	sitesMax  = 32
	agentsMax = 256 // of all sites; a run of more takes hours
	agentsMin = 2
	nameMax   = 64 // bytes

	durationMin  = time.Minute
	durationMax  = 400 * day
	heartbeatMin = 100 * time.Millisecond // as that of a node
	heartbeatMax = time.Hour

	latencyMax    = 30 * time.Second
	lossMax       = 0.5 // beyond it nothing is exchanged, only repeated
	bandwidthMin  = 1 << 10
	bandwidthMax  = 10 << 30 // bytes a second
	clockErrorMax = 24 * time.Hour

	rateMax  = 3600 // an hour: one a second
	keysMax  = 1000
	sizeMin  = 1
	sizeMax  = 60 << 10 // bytes; one record holds 64 KiB with all its fields
	zoneMax  = 14 * time.Hour
	listMax  = 100 // absences of a site, cuts of a link, entries of writes
	linksMax = 2 * sitesMax * sitesMax

	// stepsMax bounds what a plan may have to do: about a million records on
	// one machine are too many, and a scenario of this size runs for an hour.
	stepsMax = 200_000
	// heldMax bounds the bodies that all machines hold together, in bytes: a run
	// takes three or four times as much memory.
	heldMax = 2 << 30
)

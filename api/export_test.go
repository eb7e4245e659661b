package api

// For tests.
var (
	AllowUser        = allowUser
	HasLoneSurrogate = hasLoneSurrogate
	TurnsAfter       = turnsAfter
)

package api

// For tests.
var (
	AllowUser        = allowUser
	Converged        = converged
	Verdict          = verdict
	HasLoneSurrogate = hasLoneSurrogate
)

package state

import "math"

// WilsonLowerBound returns the share of successes that a skill has at least,
// judged from wins successes in uses runs: the lower end of the 95 % score
// interval (E. B. Wilson, Probable Inference, the Law of Succession, and
// Statistical Inference, JASA 22, 1927). So 90 wins of 100 rank above 1 of 1.
// It is between 0 and the plain share, and 0 without uses. Negative arguments
// count as 0, and wins above uses as uses.
func WilsonLowerBound(wins, uses int) float64 {
	if uses <= 0 {
		return 0
	}
	const z = 1.96 // of the normal distribution, 95 % lie within so many deviations
	n := float64(uses)
	share := float64(min(max(wins, 0), uses)) / n
	if share == 0 {
		return 0
	}
	// The product of both ends of the interval, divided by the upper one: unlike
	// their usual difference this cancels nothing, so that it never leaves its
	// range and never falls when evidence grows.
	width := z * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return share * share / (share + z*z/(2*n) + width)
}

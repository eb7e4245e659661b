package scenario

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Validate checks every field against its bounds and against the others.
// Errors: ErrScenario, naming the field.
func (s *Scenario) Validate() error {
	checks := []func() error{s.checkFleet, s.checkSites, s.checkHub, s.checkLinks, s.checkWrites, s.checkFaults, s.checkSteps}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// invalid is an error of a field, without its line.
func invalid(field, format string, args ...any) error {
	return &Error{Field: field, Text: fmt.Sprintf(format, args...)}
}

// inside checks that a number lies between two others.
func inside[T int | int64](field string, v, low, high T) error {
	if v < low || v > high {
		return invalid(field, "%d, want %d to %d", v, low, high)
	}
	return nil
}

// perHour checks a rate. What is no number lies nowhere.
func perHour(field string, rate float64) error {
	if rate >= 0 && rate <= rateMax {
		return nil
	}
	return invalid(field, "%.6g an hour, want 0 to %d", rate, rateMax)
}

func lasting(field string, v, low, high time.Duration) error {
	if v < low || v > high {
		return invalid(field, "%s, want %s to %s", spell(v), spell(low), spell(high))
	}
	return nil
}

// spell is a duration as scenarios write it.
func spell(d time.Duration) string {
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

func (s *Scenario) checkFleet() error {
	if len(s.Name) > nameMax {
		return invalid("name", "%d bytes, want up to %d", len(s.Name), nameMax)
	}
	if err := lasting("duration", s.Duration, durationMin, durationMax); err != nil {
		return err
	}
	if err := lasting("heartbeat", s.Heartbeat, heartbeatMin, heartbeatMax); err != nil {
		return err
	}
	return lasting("timeout", s.Timeout, heartbeatMin, heartbeatMax)
}

func (s *Scenario) checkSites() error {
	if n := len(s.Sites); n < 1 || n > sitesMax {
		return invalid("sites", "%d sites, want 1 to %d", n, sitesMax)
	}
	for i := range s.Sites {
		if err := s.checkSite(i, fmt.Sprintf("sites[%d]", i)); err != nil {
			return err
		}
	}
	if n := s.Agents(); n < agentsMin || n > agentsMax {
		return invalid("sites", "%d agents in all, want %d to %d", n, agentsMin, agentsMax)
	}
	return nil
}

func (s *Scenario) checkSite(i int, at string) error {
	site := &s.Sites[i]
	switch {
	case site.Name == "" || len(site.Name) > nameMax:
		return invalid(at+".name", "%d bytes, want a name of 1 to %d", len(site.Name), nameMax)
	case s.site(site.Name) != i:
		return invalid(at+".name", "%q is the name of another site already", site.Name)
	case site.Withholds != "" && site.Withholds != "skill" && site.Withholds != "memory":
		return invalid(at+".withholds", "%.60q, want skill or memory", site.Withholds)
	case site.Zone > zoneMax || site.Zone < -zoneMax:
		return invalid(at+".zone", "%s, want -%s to %[2]s", site.Zone, spell(zoneMax))
	}
	if err := inside(at+".agents", site.Agents, 1, agentsMax); err != nil {
		return err
	}
	if err := lasting(at+".clock_error", site.ClockError, 0, clockErrorMax); err != nil {
		return err
	}
	if err := inside(at+".absences", len(site.Absences), 0, listMax); err != nil {
		return err
	}
	for j := range site.Absences {
		a, at := &site.Absences[j], fmt.Sprintf("%s.absences[%d]", at, j)
		if err := inside(at+".agents", a.Agents, 0, site.Agents); err != nil {
			return err
		}
		if err := s.checkWindow(at, a.Window); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scenario) checkWindow(at string, w Window) error {
	if err := lasting(at+".at", w.At, 0, s.Duration-time.Second); err != nil {
		return err
	}
	if err := lasting(at+".for", w.For, time.Second, durationMax); err != nil {
		return err
	}
	// All that is amiss ends with the duration, so the rest of it would not be.
	// Those that come again may be cut short the last time.
	if w.At+w.For > s.Duration {
		return invalid(at+".for", "%s from %s on is longer than the duration of %s, at which it would end", spell(w.For), spell(w.At), spell(s.Duration))
	}
	if w.Every != 0 && w.Every <= w.For {
		return invalid(at+".every", "%s, want more than the %s that it lasts", spell(w.Every), spell(w.For))
	}
	return nil
}

// checkHub holds that there is one agent that all others can meet at.
func (s *Scenario) checkHub() error {
	if s.Hub == "" {
		return nil
	}
	i := s.site(s.Hub)
	switch {
	case i < 0:
		return s.noSite("hub", s.Hub)
	case s.Sites[i].Agents != 1:
		return invalid("hub", "%s has %d agents, want a site with one", s.Hub, s.Sites[i].Agents)
	case s.Sites[i].Withholds != "":
		return invalid("hub", "%s withholds %s, so nobody would get it", s.Hub, s.Sites[i].Withholds)
	}
	return nil
}

func (s *Scenario) noSite(field, name string) error {
	all := make([]string, len(s.Sites))
	for i := range s.Sites {
		all[i] = s.Sites[i].Name
	}
	return invalid(field, "there is no site %.60q; there is %s", name, strings.Join(all, ", "))
}

func (s *Scenario) checkLinks() error {
	if err := inside("links", len(s.Links), 0, linksMax); err != nil {
		return err
	}
	described := map[[2]string]bool{}
	for i := range s.Links {
		l, at := &s.Links[i], fmt.Sprintf("links[%d]", i)
		if l.From == "" || l.To == "" {
			return invalid(at, "want between, or from and to")
		}
		for _, name := range []string{l.From, l.To} {
			if s.site(name) < 0 {
				return s.noSite(at, name)
			}
		}
		if l.From == l.To && s.Sites[s.site(l.From)].Agents < 2 {
			return invalid(at, "%s has one agent, so there is no line within it", l.From)
		}
		for _, direction := range l.directions() {
			if described[direction] {
				return invalid(at, "the line from %s to %s is described already", direction[0], direction[1])
			}
			described[direction] = true
		}
		if err := s.checkLink(l, at); err != nil {
			return err
		}
	}
	return nil
}

// directions are the pairs of sites that a link describes.
func (l *Link) directions() [][2]string {
	there, back := [2]string{l.From, l.To}, [2]string{l.To, l.From}
	if !l.Both || there == back {
		return [][2]string{there}
	}
	return [][2]string{there, back}
}

func (s *Scenario) checkLink(l *Link, at string) error {
	if err := lasting(at+".latency", l.Latency.Max, 0, latencyMax); err != nil {
		return err
	}
	if !(l.Loss >= 0 && l.Loss <= lossMax) { // nor what is no number
		return invalid(at+".loss", "%s, want up to %s", percent(l.Loss), percent(lossMax))
	}
	if l.Bandwidth != 0 {
		if err := inside(at+".bandwidth", l.Bandwidth, bandwidthMin, bandwidthMax); err != nil {
			return err
		}
	}
	if err := inside(at+".cuts", len(l.Cuts), 0, listMax); err != nil {
		return err
	}
	for j := range l.Cuts {
		if err := s.checkWindow(fmt.Sprintf("%s.cuts[%d]", at, j), l.Cuts[j]); err != nil {
			return err
		}
	}
	return nil
}

func percent(share float64) string { return fmt.Sprintf("%.4g%%", 100*share) }

func (s *Scenario) checkWrites() error {
	if err := inside("writes", len(s.Writes), 0, listMax); err != nil {
		return err
	}
	for i := range s.Writes {
		w, at := &s.Writes[i], fmt.Sprintf("writes[%d]", i)
		for _, name := range w.Sites {
			if s.site(name) < 0 {
				return s.noSite(at+".sites", name)
			}
		}
		if err := perHour(at+".rate", w.Rate); err != nil {
			return err
		}
		if sum := w.New + w.Edits + w.Deletes; math.Abs(sum-1) > 0.001 {
			return invalid(at, "new, edits and deletes are %s together, want 100%%", percent(sum))
		}
		if err := inside(at+".keys", w.Keys, 1, keysMax); err != nil {
			return err
		}
		if w.Size.Min < sizeMin || w.Size.Max > sizeMax {
			return invalid(at+".size", "%d to %d bytes, want %d to %d", w.Size.Min, w.Size.Max, sizeMin, sizeMax)
		}
	}
	return nil
}

func (s *Scenario) checkFaults() error {
	f := &s.Faults
	for _, r := range []struct {
		name string
		rate float64
	}{{"crashes", f.Crashes}, {"dropouts", f.Dropouts}, {"partitions", f.Partitions}, {"disk_errors", f.DiskErrors}} {
		if err := perHour("faults."+r.name, r.rate); err != nil {
			return err
		}
	}
	for _, r := range []struct {
		name string
		Range[time.Duration]
	}{{"downtime", f.Downtime}, {"dropout_for", f.DropoutFor}, {"partition_for", f.PartitionFor}} {
		if r.Max > durationMax || r.Min < 0 {
			return invalid("faults."+r.name, "up to %s, want up to %s", spell(r.Max), spell(durationMax))
		}
	}
	return nil
}

// checkSteps bounds what a plan will have to do, before anything of it is
// drawn.
func (s *Scenario) checkSteps() error {
	hours := s.Duration.Hours()
	steps := hours * (s.Faults.Partitions + float64(s.Agents())*(s.Faults.Crashes+s.Faults.Dropouts+s.Faults.DiskErrors))
	bodies := 0.0 // bytes, on one machine
	for i := range s.Writes {
		w := &s.Writes[i]
		made := w.Rate * hours * float64(s.writers(w))
		steps += made
		bodies += made * (w.New + w.Edits) * float64(w.Size.Min+w.Size.Max) / 2
	}
	if steps > stepsMax {
		return invalid("duration", "%s of these rates is about %.0f writes and faults, want up to %d: take a shorter time, fewer agents or lower rates", spell(s.Duration), steps, stepsMax)
	}
	if held := bodies * float64(s.Agents()); held > heldMax {
		return invalid("writes", "about %.1f GiB on all agents together, want up to %d: take a shorter time, fewer agents, lower rates or smaller sizes", held/(1<<30), heldMax>>30)
	}
	return s.checkOutages(steps)
}

// writers is how many agents make these writes.
func (s *Scenario) writers(w *Writes) int {
	count := 0
	for i := range s.Sites {
		if w.at(s.Sites[i].Name) {
			count += s.Sites[i].Agents
		}
	}
	return count
}

// checkOutages bounds what absences and cuts add to so many steps: an absence
// has a begin and an end for each agent, a cut is one step for each direction.
func (s *Scenario) checkOutages(steps float64) error {
	add := func(at string, w Window, each int) error {
		times := 1.0
		if w.Every > 0 {
			times = math.Ceil(float64(s.Duration-w.At) / float64(w.Every))
		}
		if steps += times * float64(each); steps > stepsMax {
			return invalid(at+".every", "with this there are about %.0f writes and faults in %s, want up to %d: let it come less often", steps, spell(s.Duration), stepsMax)
		}
		return nil
	}
	for i := range s.Sites {
		for j := range s.Sites[i].Absences {
			a := &s.Sites[i].Absences[j]
			away := a.Agents
			if away == 0 {
				away = s.Sites[i].Agents
			}
			if err := add(fmt.Sprintf("sites[%d].absences[%d]", i, j), a.Window, 2*away); err != nil {
				return err
			}
		}
	}
	for i := range s.Links {
		for j, cut := range s.Links[i].Cuts {
			if err := add(fmt.Sprintf("links[%d].cuts[%d]", i, j), cut, len(s.Links[i].directions())); err != nil {
				return err
			}
		}
	}
	return nil
}

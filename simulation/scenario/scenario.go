package scenario

import "time"

// Scenario is a fleet and what happens to it. Parse fills in every default;
// a scenario made by hand needs Validate.
type Scenario struct {
	// Name is what reports call it.
	Name string
	// Seed is the first seed to run, if Seeded; else the choice is the caller's.
	Seed   uint64
	Seeded bool
	// Duration is the virtual time until all faults end.
	Duration time.Duration
	// Heartbeat is the interval between comparisons with partners, and Timeout
	// how long an answer may take.
	Heartbeat, Timeout time.Duration
	// Gossip spreads each write at once.
	Gossip bool
	// Hub names the site of the one agent that all others connect to; empty
	// lets everybody connect to everybody.
	Hub    string
	Sites  []Site
	Links  []Link
	Writes []Writes
	Faults Faults
}

// Site is one place with agents.
type Site struct {
	Name   string
	Agents int
	// ClockError bounds how wrong the clock of each agent is, either way.
	ClockError time.Duration
	// Zone is what the time of day there is ahead of UTC.
	Zone time.Duration
	// Withholds is the family of records that the site does not share, skill or
	// memory; empty for none.
	Withholds string
	Absences  []Absence
}

// Absence is a time in which agents have no network. They go on writing.
type Absence struct {
	// Agents is how many of the site's, the first ones; 0 is all.
	Agents int
	Window
}

// Window is a span of time after the begin, which may come again.
type Window struct {
	At, For time.Duration
	// Every is the time from one begin to the next; 0 is once.
	Every time.Duration
}

// Link is the line between two sites, or within one.
type Link struct {
	From, To string
	// Both says that it is the same in the other direction.
	Both    bool
	Latency Range[time.Duration]
	// Loss is the share of messages that vanish, from 0 to 1.
	Loss float64
	// Bandwidth is in bytes a second; 0 has no bound.
	Bandwidth int64
	// Cuts are when nothing gets through.
	Cuts []Window
}

// Writes is what the agents of some sites do.
type Writes struct {
	// Sites are their names; none is all.
	Sites []string
	// Rate is how many writes each agent makes an hour.
	Rate float64
	// Quiet is the part of the day without any, from midnight of the site's
	// zone; empty for none. It may go over midnight.
	Quiet Range[time.Duration]
	// New, Edits and Deletes are the shares of new items, of edits of shared
	// keys and of deletes of them. They add up to 1.
	New, Edits, Deletes float64
	// Keys is how many shared keys the fleet has in common.
	Keys int
	// Size is that of a body, in bytes.
	Size Range[int]
}

// Faults are what goes wrong besides cuts and absences, as rates an hour.
type Faults struct {
	// Crashes are of each agent, which is down for Downtime.
	Crashes  float64
	Downtime Range[time.Duration]
	// Dropouts are of the network of each agent.
	Dropouts   float64
	DropoutFor Range[time.Duration]
	// Partitions cut the fleet in two.
	Partitions   float64
	PartitionFor Range[time.Duration]
	// DiskErrors are failed writes to the disk of each agent.
	DiskErrors float64
}

// Range is all from Min to Max, both included.
type Range[T int | time.Duration] struct{ Min, Max T }

// Agents is the number of agents of all sites.
func (s *Scenario) Agents() int {
	sum := 0
	for i := range s.Sites {
		sum += s.Sites[i].Agents
	}
	return sum
}

// site returns the number of a site, -1 when there is none of that name.
func (s *Scenario) site(name string) int {
	for i := range s.Sites {
		if s.Sites[i].Name == name {
			return i
		}
	}
	return -1
}

// defaults returns a scenario for which nobody chose anything.
func defaults() Scenario {
	return Scenario{
		Duration: day, Heartbeat: 10 * time.Second, Timeout: 10 * time.Second, Gossip: true,
		Faults: Faults{
			Downtime:     Range[time.Duration]{10 * time.Second, 5 * time.Minute},
			DropoutFor:   Range[time.Duration]{10 * time.Second, 5 * time.Minute},
			PartitionFor: Range[time.Duration]{time.Minute, time.Hour},
		},
	}
}

func defaultWrites() Writes {
	return Writes{Rate: 5, New: 0.5, Edits: 0.45, Deletes: 0.05, Keys: 20, Size: Range[int]{200, 2000}}
}

// defaultLink is an ordinary line between two places.
func defaultLink() Link {
	return Link{Latency: Range[time.Duration]{20 * time.Millisecond, 60 * time.Millisecond}}
}

// within is the network of a site that no link describes.
func within() Link {
	return Link{Latency: Range[time.Duration]{time.Millisecond, 5 * time.Millisecond}}
}

package hlc_test

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
)

// p is a physical time of the tests, in milliseconds: in the year 2026.
const p = 1_790_000_000_000

const driftMax = int64(hlc.DriftMax / time.Millisecond)

// hand is a physical clock that tests set by hand, in milliseconds.
type hand struct{ ms int64 }

func (h *hand) now() time.Time { return time.UnixMilli(h.ms) }

func stamp(wall int64, counter uint16) hlc.Timestamp {
	return hlc.Timestamp{Wall: wall, Counter: counter}
}

// clockModel drives a Clock beside a twin that knows one number: the newest
// stamp, packed as 48 bits of milliseconds and 16 of counter.
type clockModel struct {
	physical hand
	clock    *hlc.Clock
	newest   uint64
	outcomes map[string]int // how often each end of a call was seen
}

func (m *clockModel) wall() uint64 { return uint64(min(max(m.physical.ms, 0), hlc.WallMax)) }

// Now checks the stamp against the twin: the physical time or one more than
// the newest, whichever is later, unless that is too far ahead.
func (m *clockModel) Now(t *rapid.T) {
	want := max(m.newest+1, m.wall()<<16)
	got, err := m.clock.Now()
	if want >= 1<<63 || want>>16 > m.wall()+uint64(driftMax) {
		m.outcomes["Now ahead"]++
		if !errors.Is(err, hlc.ErrClockAhead) || !got.IsZero() {
			t.Fatalf("Now() = %s, %v; want nothing and ErrClockAhead", got, err)
		}
		return
	}
	m.outcomes["Now"]++
	if err != nil || got.Pack() != want {
		t.Fatalf("Now() = %s (%#x), %v; want %#x", got, got.Pack(), err, want)
	}
	m.newest = want
}

// Observe offers stamps of all kinds, most of them near a bound.
func (m *clockModel) Observe(t *rapid.T) {
	base := rapid.SampledFrom([]int64{
		int64(m.wall()), int64(m.wall()) + driftMax, int64(m.newest >> 16), hlc.WallMax, 0,
	}).Draw(t, "base")
	remote := stamp(
		base+rapid.Int64Range(-2, 2).Draw(t, "offset"),
		rapid.SampledFrom([]uint16{0, 1, 9, math.MaxUint16 - 1, math.MaxUint16}).Draw(t, "counter"),
	)
	if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
		remote.Wall = rapid.Int64().Draw(t, "wall")
	}
	err := m.clock.Observe(remote)
	switch {
	case remote.Wall < 0 || remote.Wall >= 1<<47:
		m.outcomes["Observe invalid"]++
		if !errors.Is(err, hlc.ErrSyntax) {
			t.Fatalf("Observe(%s) = %v, want ErrSyntax", remote, err)
		}
	case remote.Wall > int64(m.wall())+driftMax:
		m.outcomes["Observe drift"]++
		if !errors.Is(err, hlc.ErrClockDrift) {
			t.Fatalf("Observe(%s) = %v, want ErrClockDrift", remote, err)
		}
	default:
		m.outcomes["Observe"]++
		if err != nil {
			t.Fatalf("Observe(%s) = %v", remote, err)
		}
		m.newest = max(m.newest, remote.Pack())
	}
}

func (m *clockModel) Forward(t *rapid.T) {
	m.physical.ms += rapid.Int64Range(0, 2*driftMax).Draw(t, "ms")
}

func (m *clockModel) Back(t *rapid.T) {
	m.physical.ms -= rapid.Int64Range(0, 2*driftMax).Draw(t, "ms")
}

// Jump goes to where broken clocks and dead batteries go.
func (m *clockModel) Jump(t *rapid.T) {
	m.physical.ms = rapid.SampledFrom([]int64{
		p, 0, -1, -p, hlc.WallMax - driftMax, hlc.WallMax, hlc.WallMax + 1,
		time.Date(7000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
	}).Draw(t, "ms")
}

// CatchUp lets real time pass until the newest stamp is within the bound: the
// clock must issue again, whatever happened before.
func (m *clockModel) CatchUp(t *rapid.T) {
	m.physical.ms = max(m.physical.ms, int64((m.newest+1)>>16)-driftMax)
	if m.newest+1 < 1<<63 {
		if _, err := m.clock.Now(); err != nil {
			t.Fatalf("Now() = %v after time has caught up", err)
		}
		m.newest = m.clock.Last().Pack()
	}
}

// Restart opens a new clock after the persisted newest stamp.
func (m *clockModel) Restart(*rapid.T) {
	m.clock = hlc.NewClock(m.physical.now, m.clock.Last())
}

// Check runs after every step.
func (m *clockModel) Check(t *rapid.T) {
	if got := m.clock.Last(); got.Pack() != m.newest {
		t.Fatalf("Last() = %s (%#x), want %#x", got, got.Pack(), m.newest)
	}
}

// TestClockModel holds I1, I2 and I3: a clock issues exactly what its twin
// says, over jumps of physical time and restarts.
func TestClockModel(t *testing.T) {
	outcomes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		m := &clockModel{physical: hand{p}, outcomes: outcomes}
		m.clock = hlc.NewClock(m.physical.now, hlc.Timestamp{})
		t.Repeat(rapid.StateMachineActions(m))
	})
	for _, outcome := range []string{"Now", "Now ahead", "Observe", "Observe drift", "Observe invalid"} {
		if outcomes[outcome] == 0 {
			t.Errorf("the model never met %q: %v", outcome, outcomes)
		}
	}
}

// TestCase19FrozenClock holds the fault of a logical counter that overflows.
func TestCase19FrozenClock(t *testing.T) {
	t.Run("70,000 stamps on a frozen clock rise strictly", func(t *testing.T) {
		physical := hand{p}
		clock := hlc.NewClock(physical.now, hlc.Timestamp{})
		previous := clock.Last()
		for i := range 70_000 {
			got, err := clock.Now()
			if err != nil || !got.After(previous) {
				t.Fatalf("stamp %d: %s after %s, %v", i, got, previous, err)
			}
			previous = got
		}
		// The first stamp is number 0, 65,536 fit into a millisecond.
		if want := stamp(p+1, 70_000-65_536-1); previous != want {
			t.Errorf("last stamp %s, want %s", previous, want)
		}
	})

	t.Run("stamp 2^32+1 on a frozen clock borrows 65.5 s and stays within the bound", func(t *testing.T) {
		physical := hand{p}
		// Where 2^32-2 stamps of one frozen millisecond have led.
		clock := hlc.NewClock(physical.now, stamp(p+65_535, math.MaxUint16-2))
		for n, want := range []hlc.Timestamp{
			stamp(p+65_535, math.MaxUint16-1),
			stamp(p+65_535, math.MaxUint16), // number 2^32
			stamp(p+65_536, 0),              // number 2^32 + 1
			stamp(p+65_536, 1),
		} {
			if got, err := clock.Now(); err != nil || got != want {
				t.Fatalf("stamp %d: %s, %v; want %s", n, got, err, want)
			}
		}
	})

	t.Run("at the bound the clock refuses and goes on when time does", func(t *testing.T) {
		physical := hand{p}
		clock := hlc.NewClock(physical.now, stamp(p+driftMax, math.MaxUint16-1))
		last, err := clock.Now()
		if want := stamp(p+driftMax, math.MaxUint16); err != nil || last != want {
			t.Fatalf("the last stamp within the bound: %s, %v; want %s", last, err, want)
		}
		if got, err := clock.Now(); !errors.Is(err, hlc.ErrClockAhead) {
			t.Fatalf("beyond the bound: %s, %v; want ErrClockAhead", got, err)
		}
		physical.ms++
		if got, err := clock.Now(); err != nil || got != stamp(p+driftMax+1, 0) {
			t.Fatalf("a millisecond later: %s, %v", got, err)
		}
	})
}

// TestCase15RemoteCounter holds the fault of a receive that ignores the remote
// counter, so that an event can sort before its cause.
func TestCase15RemoteCounter(t *testing.T) {
	t.Run("after (P,5) and a remote (P,9) comes (P,10)", func(t *testing.T) {
		physical := hand{p}
		clock := hlc.NewClock(physical.now, stamp(p, 5))
		if err := clock.Observe(stamp(p, 9)); err != nil {
			t.Fatal(err)
		}
		if got, err := clock.Now(); err != nil || got != stamp(p, 10) {
			t.Errorf("Now() = %s, %v; want %s", got, err, stamp(p, 10))
		}
	})

	t.Run("an older remote stamp does not turn the clock back", func(t *testing.T) {
		physical := hand{p - 1000}
		clock := hlc.NewClock(physical.now, stamp(p, 9))
		if err := clock.Observe(stamp(p, 5)); err != nil {
			t.Fatal(err)
		}
		if got, err := clock.Now(); err != nil || got != stamp(p, 10) {
			t.Errorf("Now() = %s, %v; want %s", got, err, stamp(p, 10))
		}
	})

	t.Run("on any machines whatever happened before is stamped before", func(t *testing.T) {
		rapid.Check(t, happensBefore)
	})
}

// happensBefore passes stamps between machines whose clocks differ by less than
// the bound and checks that an effect is stamped after all of its causes.
func happensBefore(t *rapid.T) {
	const machines = 3
	var physical [machines]hand
	var clocks [machines]*hlc.Clock
	var causes [machines]hlc.Timestamp // newest stamp that each machine knows of
	for i := range clocks {
		physical[i].ms = p + rapid.Int64Range(-driftMax/4, driftMax/4).Draw(t, "skew")
		clocks[i] = hlc.NewClock(physical[i].now, hlc.Timestamp{})
	}
	machine := rapid.IntRange(0, machines-1)
	t.Repeat(map[string]func(*rapid.T){
		"write": func(t *rapid.T) {
			i := machine.Draw(t, "at")
			got, err := clocks[i].Now()
			if err != nil || !got.After(causes[i]) {
				t.Fatalf("machine %d: %s, %v; want a stamp after its cause %s", i, got, err, causes[i])
			}
			causes[i] = got
		},
		"send": func(t *rapid.T) {
			from, to := machine.Draw(t, "from"), machine.Draw(t, "to")
			if err := clocks[to].Observe(causes[from]); err != nil {
				t.Fatalf("machine %d refuses %s: %v", to, causes[from], err)
			}
			if causes[from].After(causes[to]) {
				causes[to] = causes[from]
			}
		},
		"pass": func(t *rapid.T) {
			physical[machine.Draw(t, "at")].ms += rapid.Int64Range(-2, 2).Draw(t, "ms")
		},
	})
}

// TestCase14ForgedStamps holds the fault of a forged stamp that wins for ever:
// none is read, and none that is read is folded in.
func TestCase14ForgedStamps(t *testing.T) {
	t.Run("malformed texts are refused", func(t *testing.T) {
		for _, text := range []string{
			"", ".", "1", "1.", ".1", "1.1.1", "-1.0", "+1.0", "1.-1", "1.+1", "01.0", "1.00", " 1.0", "1.0 ", "1.0\n",
			"1_0.0", "0x1.0", "1e3.0", "1,0", "١.٠", "9999-12-31T23:59:59.999Z-ffff", "9999-12-31.0", "max", "Infinity.0",
			"140737488355328.0", "9223372036854775807.0", "9223372036854775808.0", "1790000000000.65536", "null", "1.0\x00",
		} {
			if got, err := hlc.Parse(text); !errors.Is(err, hlc.ErrSyntax) {
				t.Errorf("Parse(%q) = %s, %v; want ErrSyntax", text, got, err)
			}
			var kept hlc.Timestamp
			if err := kept.UnmarshalText([]byte(text)); !errors.Is(err, hlc.ErrSyntax) || !kept.IsZero() {
				t.Errorf("UnmarshalText(%q) = %v and %s; want ErrSyntax and no change", text, err, kept)
			}
		}
	})

	t.Run("malformed bytes are refused", func(t *testing.T) {
		for _, b := range [][]byte{
			nil,
			{},
			{0},
			make([]byte, 7), make([]byte, 9),
			{0x80, 0, 0, 0, 0, 0, 0, 0},
			{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		} {
			if got, err := hlc.DecodeBinary(b); !errors.Is(err, hlc.ErrSyntax) {
				t.Errorf("DecodeBinary(% x) = %s, %v; want ErrSyntax", b, got, err)
			}
		}
	})

	for _, c := range []struct {
		name   string
		remote hlc.Timestamp
		want   error
	}{
		{"a negative time", stamp(-1, 0), hlc.ErrSyntax},
		{"the most negative time", stamp(math.MinInt64, 0), hlc.ErrSyntax},
		{"a time of 2^47 ms", stamp(1<<47, 0), hlc.ErrSyntax},
		{"the largest integer", stamp(math.MaxInt64, math.MaxUint16), hlc.ErrSyntax},
		{"the largest stamp", stamp(hlc.WallMax, math.MaxUint16), hlc.ErrClockDrift},
		{"a year from now", stamp(p+365*86_400_000, 0), hlc.ErrClockDrift},
		{"a millisecond beyond the bound", stamp(p+driftMax+1, 0), hlc.ErrClockDrift},
	} {
		t.Run(c.name+" is refused and not folded in", func(t *testing.T) {
			physical := hand{p}
			clock := hlc.NewClock(physical.now, stamp(p, 7))
			if err := clock.Observe(c.remote); !errors.Is(err, c.want) {
				t.Errorf("Observe(%s) = %v, want %v", c.remote, err, c.want)
			}
			if got, err := clock.Now(); err != nil || got != stamp(p, 8) {
				t.Errorf("Now() = %s, %v; want %s as if nothing had come", got, err, stamp(p, 8))
			}
		})
	}
}

// TestEndOfRange holds I5 at the last stamps that exist.
func TestEndOfRange(t *testing.T) {
	physical := hand{time.Date(7000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}
	clock := hlc.NewClock(physical.now, stamp(hlc.WallMax, math.MaxUint16-1))
	last, err := clock.Now()
	if want := stamp(hlc.WallMax, math.MaxUint16); err != nil || last != want {
		t.Fatalf("Now() = %s, %v; want %s", last, err, want)
	}
	if last.Pack() != 1<<63-1 {
		t.Errorf("the last stamp packs to %#x", last.Pack())
	}
	for range 2 {
		if got, err := clock.Now(); !errors.Is(err, hlc.ErrClockAhead) || !got.IsZero() {
			t.Errorf("Now() = %s, %v; want ErrClockAhead after the last stamp", got, err)
		}
	}
	if clock.Last() != last {
		t.Errorf("Last() = %s, want %s", clock.Last(), last)
	}
}

func TestDriftIsAheadBehindAndNeverOverflows(t *testing.T) {
	physical := hand{p}
	clock := hlc.NewClock(physical.now, hlc.Timestamp{})
	for _, c := range []struct {
		stamp hlc.Timestamp
		want  time.Duration
	}{
		{stamp(p+1500, 9), 1500 * time.Millisecond},
		{stamp(p-1500, 9), -1500 * time.Millisecond},
		{stamp(p, 9), 0},
		{stamp(0, 1), -p * time.Millisecond},
		{stamp(hlc.WallMax, 0), math.MaxInt64 / time.Millisecond * time.Millisecond},
	} {
		if got := clock.Drift(c.stamp); got != c.want {
			t.Errorf("Drift(%s) = %s, want %s", c.stamp, got, c.want)
		}
	}
}

// TestConcurrentCallersNeverShareAStamp is for the race detector too.
func TestConcurrentCallersNeverShareAStamp(t *testing.T) {
	physical := hand{p}
	clock := hlc.NewClock(physical.now, hlc.Timestamp{})
	const callers, each = 8, 1000
	stamps := make([][]hlc.Timestamp, callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			for n := range each {
				s, err := clock.Now()
				if err != nil {
					t.Error(err)
					return
				}
				stamps[i] = append(stamps[i], s)
				if err := clock.Observe(stamp(p, uint16(n))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	seen := map[hlc.Timestamp]bool{}
	for i, own := range stamps {
		for n, s := range own {
			if seen[s] {
				t.Fatalf("stamp %s was issued twice", s)
			}
			seen[s] = true
			if n > 0 && !s.After(own[n-1]) {
				t.Fatalf("caller %d got %s after %s", i, s, own[n-1])
			}
		}
	}
}

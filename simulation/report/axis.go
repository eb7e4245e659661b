package report

import (
	"math"
	"strconv"
	"time"
)

// axis maps values to places along a side of a plot.
type axis struct {
	low, high float64 // values
	from, to  float64 // places
	log       bool
	ticks     []tick
	title     string
}

// tick is a marked value.
type tick struct {
	value float64
	label string
}

// at returns the place of a value.
func (a *axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	if high == low {
		return a.from
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// timeAxis is one of virtual time from 0, in the unit that suits its length.
func timeAxis(length time.Duration, from, to float64) *axis {
	const ticksMax = 10
	length = max(length, time.Millisecond)
	every := length
	for _, round := range roundDurations() {
		if length/round <= ticksMax {
			every = round
			break
		}
	}
	unit, name := unitOf(every)
	a := &axis{high: float64(length), from: from, to: to, title: "virtual time since the beginning (" + name + ")"}
	for t := time.Duration(0); t <= length; t += every {
		a.ticks = append(a.ticks, tick{float64(t), decimal(float64(t)/float64(unit), 6)})
	}
	return a
}

func unitOf(step time.Duration) (time.Duration, string) {
	switch {
	case step < time.Second:
		return time.Millisecond, "ms"
	case step < time.Minute:
		return time.Second, "s"
	case step < time.Hour:
		return time.Minute, "min"
	case step < 24*time.Hour:
		return time.Hour, "h"
	}
	return 24 * time.Hour, "d"
}

// countAxis is one from 0 to at least high, in steps of 1, 2 or 5 times a power
// of ten. label writes a tick.
func countAxis(high, from, to float64, title string, label func(float64) string) *axis {
	const ticksMax = 6
	high = max(high, 1)
	step := 1.0
	for _, factor := range []float64{1, 2, 5, 10} {
		power := math.Pow(10, math.Floor(math.Log10(high/ticksMax)))
		if step = factor * power; high/step <= ticksMax {
			break
		}
	}
	step = max(step, 1)
	a := &axis{high: math.Ceil(high/step) * step, from: from, to: to, title: title}
	for v := 0.0; v <= a.high+step/2; v += step {
		a.ticks = append(a.ticks, tick{v, label(v)})
	}
	return a
}

// logAxis is one of powers of ten that contains low and high, both above 0.
func logAxis(low, high, from, to float64, title string) *axis {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	if last <= first {
		last = first + 1
	}
	a := &axis{low: math.Pow(10, first), high: math.Pow(10, last), from: from, to: to, log: true, title: title}
	for p := first; p <= last; p++ {
		v := math.Pow(10, p)
		label := count(int64(v))
		if p < 0 {
			label = strconv.FormatFloat(v, 'f', int(-p), 64)
		}
		a.ticks = append(a.ticks, tick{v, label})
	}
	return a
}

// sparse leaves out labels of an axis that has no room for all. The grid stays.
func (a *axis) sparse() *axis {
	const labelsMax = 4
	every := (len(a.ticks) + labelsMax - 1) / labelsMax
	for i := range a.ticks {
		if i%every != 0 {
			a.ticks[i].label = ""
		}
	}
	return a
}

// bottom draws an axis along the bottom of a plot, with a grid up to top.
func (d *drawing) bottom(a *axis, y, top float64) {
	for _, t := range a.ticks {
		x := a.at(t.value)
		d.line("grid", x, y, x, top, "")
		d.text("tick", "middle", x, y+16, t.label)
	}
	d.line("axis", a.from, y, a.to, y, "")
	d.text("label", "middle", (a.from+a.to)/2, y+34, a.title)
}

// left draws an axis along the left of a plot, with a grid up to right.
func (d *drawing) left(a *axis, x, right float64) {
	for _, t := range a.ticks {
		y := a.at(t.value)
		d.line("grid", x, y, right, y, "")
		d.text("tick", "end", x-6, y+4, t.label)
	}
	d.line("axis", x, a.from, x, a.to, "")
	d.turned("label", x-52, (a.from+a.to)/2, a.title)
}

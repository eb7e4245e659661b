package report

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// layout says where the replicas and moments of a window stand in its diagram.
type layout struct {
	columns []int // replicas, from left to right
	hidden  int   // replicas that have no column
	step    float64
	left    float64
	top     float64
	moments []time.Duration // ascending
	places  []float64       // of the moments
	labels  []int           // the moments that are written at the side
}

const (
	columnsMax = 40   // more cannot be told apart
	diagramTop = 34.0 // room for names
	sideLeft   = 118.0
	sideRight  = 130.0
)

func newLayout(run *Run) *layout {
	w := &run.Window
	l := &layout{left: sideLeft, top: diagramTop}
	l.columns = columnsOf(run)
	l.hidden = run.Replicas - len(l.columns)
	l.step = min(max((960-sideLeft-sideRight)/float64(max(len(l.columns)-1, 1)), 15), 150)
	l.moments = []time.Duration{w.From, w.To}
	for _, m := range w.Messages {
		l.moments = append(l.moments, max(m.Sent, w.From), m.Arrived)
	}
	for _, p := range w.Points {
		l.moments = append(l.moments, p.At)
	}
	slices.Sort(l.moments)
	l.moments = slices.Compact(l.moments)
	l.place()
	return l
}

// columnsOf returns the replicas that are shown: all, or those that the most
// messages concern.
func columnsOf(run *Run) []int {
	columns := make([]int, run.Replicas)
	share := make([]int, run.Replicas)
	for n := range columns {
		columns[n] = n
	}
	for _, m := range run.Window.Messages {
		share[m.From]++
		share[m.To]++
	}
	for _, p := range run.Window.Points {
		if p.Replica >= 0 {
			share[p.Replica] += 2 // what happens to it is worth more than what passes by
		}
	}
	if len(columns) > columnsMax {
		slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(share[b], share[a]) })
		columns = columns[:columnsMax]
		slices.Sort(columns)
	}
	return columns
}

// place gives each moment its place: time runs downwards, and the longer the
// gap, the less of it is drawn, or a burst of milliseconds could not be shown
// beside a pause of seconds.
func (l *layout) place() {
	const least, more, most, labelEvery = 3.0, 5.0, 24.0, 26.0
	y := l.top + 12
	labelled := math.Inf(-1)
	for i, t := range l.moments {
		if i > 0 {
			gap := float64(t-l.moments[i-1]) / float64(time.Millisecond)
			y += min(least+more*math.Log10(1+gap), most)
		}
		l.places = append(l.places, y)
		if y-labelled >= labelEvery {
			l.labels = append(l.labels, i)
			labelled = y
		}
	}
}

// x returns the place of a replica; false when it has none.
func (l *layout) x(replica int) (float64, bool) {
	i, shown := slices.BinarySearch(l.columns, replica)
	return l.left + l.step*float64(i), shown
}

// y returns the place of a moment, the first one when it is earlier.
func (l *layout) y(t time.Duration) float64 {
	i, _ := slices.BinarySearch(l.moments, t)
	return l.places[min(i, len(l.places)-1)]
}

func (l *layout) bottom() float64 { return l.places[len(l.places)-1] + 14 }

func (l *layout) right() float64 { return l.left + l.step*float64(max(len(l.columns)-1, 0)) }

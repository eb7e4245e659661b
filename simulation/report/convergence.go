package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// convergence draws how long fleets took until what all had written was on all,
// with gossip and without, by size, one curve for each loss.
func convergence(s *Sweep) figure {
	const top, bottom = 34.0, 300.0
	d := newDrawing(960, bottom+44)
	sizes, losses := s.axes()
	low, high := time.Second, time.Millisecond
	for _, c := range s.Cells {
		if len(c.Times) > 0 {
			low, high = min(low, c.Times[0]), max(high, c.Times[len(c.Times)-1])
		}
	}
	for i, panel := range []struct {
		gossip bool
		title  string
	}{{true, "with gossip"}, {false, "without gossip: repair alone"}} {
		left := 90.0 + 460*float64(i)
		y := logAxis(max(low, time.Millisecond).Seconds(), high.Seconds(), bottom, top, "time until everywhere (s)")
		x := sizeAxis(sizes, left, left+390)
		d.bottom(x, bottom, top)
		d.left(y, left, left+390)
		d.text("label", "middle", left+195, top-12, panel.title)
		for j, loss := range losses {
			d.series(s.of(panel.gossip, loss), j, len(losses), x, y)
		}
	}
	f := figure{
		ID: "convergence", Title: "Convergence time by fleet size and loss",
		See: "Every replica writes once in the same instant; a point is the median time until all of it is on all of them, its whisker the fastest " +
			"and the slowest fleet. Gossip comes by many ways, so that loss should hardly show in a large fleet; without gossip, what is lost costs requests that time out, and heartbeats. The scale of time is logarithmic.",
		Tables: []table{s.table()},
	}
	for j, loss := range losses {
		f.Legend = append(f.Legend, entry(percent(loss)+" of messages lost", func(d *drawing) {
			d.line("series c"+strconv.Itoa(j%seriesMax), 1, 7, 27, 7, "")
			d.symbol(j, 14, 7, "")
		}))
	}
	f.Plot = d.picture(f.ID, f.Title, fmt.Sprintf("Two plots of time against fleet size, %s each: with gossip, and without.", plural(len(losses), "curve")))
	return f
}

// seriesMax is how many curves have a colour of their own.
const seriesMax = 6

func percent(share float64) string { return decimal(100*share, 3) + " %" }

// axes returns the sizes and losses of a sweep, ascending.
func (s *Sweep) axes() (sizes []int, losses []float64) {
	for _, c := range s.Cells {
		sizes, losses = append(sizes, c.Replicas), append(losses, c.Loss)
	}
	slices.Sort(sizes)
	slices.Sort(losses)
	return slices.Compact(sizes), slices.Compact(losses)
}

// of returns the cells of one curve, by size.
func (s *Sweep) of(gossip bool, loss float64) []Cell {
	var cells []Cell
	for _, c := range s.Cells {
		if c.Gossip == gossip && c.Loss == loss {
			cells = append(cells, c)
		}
	}
	slices.SortFunc(cells, func(a, b Cell) int { return a.Replicas - b.Replicas })
	return cells
}

// sizeAxis has the sizes at equal distances.
func sizeAxis(sizes []int, from, to float64) *axis {
	a := &axis{low: -0.5, high: float64(len(sizes)) - 0.5, from: from, to: to, title: "fleet size (replicas)"}
	for i, n := range sizes {
		a.ticks = append(a.ticks, tick{float64(i), strconv.Itoa(n)})
	}
	return a
}

// series draws one curve of several, each a little beside the others.
func (d *drawing) series(cells []Cell, number, of int, x, y *axis) {
	names := "series c" + strconv.Itoa(number%seriesMax)
	var path strings.Builder
	type point struct {
		x, y  float64
		title string
	}
	var points []point
	for _, c := range cells {
		if len(c.Times) == 0 {
			continue
		}
		place := slices.IndexFunc(x.ticks, func(t tick) bool { return t.label == strconv.Itoa(c.Replicas) })
		px := x.at(float64(place) + 0.12*(float64(number)-float64(of-1)/2))
		py := y.at(c.Median().Seconds())
		d.line(names+" whisker", px, y.at(c.Times[0].Seconds()), px, y.at(c.Times[len(c.Times)-1].Seconds()), "")
		command := "L"
		if path.Len() == 0 {
			command = "M"
		}
		path.WriteString(command + coordinate(px) + " " + coordinate(py))
		points = append(points, point{px, py, fmt.Sprintf("%d replicas, %s lost: median %s, %s to %s", c.Replicas, percent(c.Loss),
			duration(c.Median()), duration(c.Times[0]), duration(c.Times[len(c.Times)-1]))})
	}
	if path.Len() > 0 {
		d.path(names, path.String(), "")
	}
	for _, p := range points {
		d.symbol(number, p.x, p.y, p.title)
	}
}

// symbol draws the mark of a curve: one shape for each, so that colour is not
// needed to tell them apart.
func (d *drawing) symbol(number int, x, y float64, title string) {
	names := "symbol c" + strconv.Itoa(number%seriesMax)
	shape := func(points ...float64) string {
		var b strings.Builder
		for i := 0; i < len(points); i += 2 {
			command := "L"
			if i == 0 {
				command = "M"
			}
			b.WriteString(command + coordinate(x+points[i]) + " " + coordinate(y+points[i+1]))
		}
		return b.String() + "Z"
	}
	switch number % seriesMax {
	case 0:
		d.circle(names, x, y, 4, title)
	case 1:
		d.path(names, shape(-4, -4, 4, -4, 4, 4, -4, 4), title)
	case 2:
		d.path(names, shape(0, -5, 5, 4, -5, 4), title)
	case 3:
		d.path(names, shape(0, -6, 5, 0, 0, 6, -5, 0), title)
	case 4:
		d.path(names, shape(0, 5, 5, -4, -5, -4), title)
	default:
		d.path(names, shape(-5, -2, -2, -2, -2, -5, 2, -5, 2, -2, 5, -2, 5, 2, 2, 2, 2, 5, -2, 5, -2, 2, -5, 2), title)
	}
}

func (s *Sweep) table() table {
	t := table{
		Caption: "Time until everywhere", Head: []string{"gossip", "replicas", "loss", "fleets", "fastest", "median", "slowest", "not within " + duration(giveUp)},
		Words: 1, Open: true,
	}
	for _, c := range s.Cells {
		gossip, fastest, slowest := "off", "-", "-"
		if c.Gossip {
			gossip = "on"
		}
		if len(c.Times) > 0 {
			fastest, slowest = duration(c.Times[0]), duration(c.Times[len(c.Times)-1])
		}
		t.Rows = append(t.Rows, []string{
			gossip, strconv.Itoa(c.Replicas), percent(c.Loss), strconv.Itoa(len(c.Times) + c.Unfinished),
			fastest, duration(c.Median()), slowest, strconv.Itoa(c.Unfinished),
		})
	}
	return t
}

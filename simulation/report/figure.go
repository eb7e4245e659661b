package report

import "html/template"

// figure is one plot with all that belongs to it.
type figure struct {
	ID, Title string
	// See says what to look for.
	See    string
	Legend []legendEntry
	Plot   template.HTML
	Tables []table
}

// Far reports whether the plot is wider than a narrow screen, and is scrolled.
func (f figure) Far() bool { return f.ID != faultsID }

// legendEntry explains one mark: Sample is a small picture of it.
type legendEntry struct {
	Sample template.HTML
	Text   string
}

// table is the numbers behind a plot.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
	// Words is how many of the first columns are not numbers.
	Words int
	// Open shows the table without a click.
	Open bool
}

// entry returns a legend's entry with what draw draws into 28 by 14 pixels.
func entry(text string, draw func(d *drawing)) legendEntry {
	d := newDrawing(28, 14)
	draw(d)
	return legendEntry{Sample: d.sample(), Text: text}
}

// sample returns a picture that nobody needs to be told of.
func (d *drawing) sample() template.HTML {
	return template.HTML(`<svg viewBox="0 0 28 14" width="28" height="14" aria-hidden="true">` + d.b.String() + "</svg>") //nolint:gosec // see picture
}

func lineEntry(text, names string) legendEntry {
	return entry(text, func(d *drawing) { d.line(names, 1, 7, 27, 7, "") })
}

func boxEntry(text, names string) legendEntry {
	return entry(text, func(d *drawing) { d.rectangle(names, 4, 1, 20, 12, "") })
}

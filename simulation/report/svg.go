package report

import (
	"html"
	"html/template"
	"strconv"
	"strings"
)

// drawing is an SVG picture that grows element by element. Its colours are the
// style sheet's.
type drawing struct {
	b             strings.Builder
	width, height float64
}

func newDrawing(width, height float64) *drawing { return &drawing{width: width, height: height} }

// attribute is a name and its value.
type attribute struct{ name, value string }

func at(name string, v float64) attribute { return attribute{name, coordinate(v)} }

func class(names string) attribute { return attribute{"class", names} }

// coordinate writes a number to a tenth of a pixel.
func coordinate(v float64) string {
	text := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

// element adds one element; title is shown when a pointer rests on it.
func (d *drawing) element(name, title string, attributes ...attribute) {
	d.b.WriteString("<" + name)
	for _, a := range attributes {
		d.b.WriteString(" " + a.name + `="` + html.EscapeString(a.value) + `"`)
	}
	if title == "" {
		d.b.WriteString("/>\n")
		return
	}
	d.b.WriteString("><title>" + html.EscapeString(title) + "</title></" + name + ">\n")
}

func (d *drawing) line(names string, x1, y1, x2, y2 float64, title string) {
	d.element("line", title, class(names), at("x1", x1), at("y1", y1), at("x2", x2), at("y2", y2))
}

func (d *drawing) rectangle(names string, x, y, width, height float64, title string) {
	d.element("rect", title, class(names), at("x", x), at("y", y), at("width", width), at("height", height))
}

func (d *drawing) circle(names string, x, y, radius float64, title string) {
	d.element("circle", title, class(names), at("cx", x), at("cy", y), at("r", radius))
}

// path adds a path; its commands are pairs of a letter and coordinates.
func (d *drawing) path(names, commands, title string) {
	d.element("path", title, class(names), attribute{"d", commands})
}

// text adds words whose anchor is start, middle or end.
func (d *drawing) text(names, anchor string, x, y float64, words string) {
	d.b.WriteString(`<text class="` + names + `" text-anchor="` + anchor + `" x="` + coordinate(x) + `" y="` + coordinate(y) + `">` +
		html.EscapeString(words) + "</text>\n")
}

// turned adds words that run upwards, with their middle at a place.
func (d *drawing) turned(names string, x, y float64, words string) {
	place := coordinate(x) + " " + coordinate(y)
	d.b.WriteString(`<text class="` + names + `" text-anchor="middle" transform="translate(` + place + `) rotate(-90)">` +
		html.EscapeString(words) + "</text>\n")
}

// picture returns the whole, with the names that a screen reader says.
func (d *drawing) picture(id, title, description string) template.HTML {
	// What is written here comes from this package, and every word that does not
	// was escaped.
	return template.HTML(`<svg viewBox="0 0 ` + coordinate(d.width) + ` ` + coordinate(d.height) + //nolint:gosec // see above
		`" width="` + coordinate(d.width) + `" height="` + coordinate(d.height) +
		`" role="img" aria-labelledby="` + id + `-title ` + id + `-desc"><title id="` + id + `-title">` + html.EscapeString(title) +
		`</title><desc id="` + id + `-desc">` + html.EscapeString(description) + "</desc>\n" + d.b.String() + "</svg>")
}

package report

import (
	"bytes"
	_ "embed" // the page and its style
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fleetsync/fleetd/simulation"
)

//go:embed page.html
var pageSource string

//go:embed page.css
var pageStyle string

// pageTemplate is parsed once.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageSource))
})

// page is what the template shows.
type page struct {
	Title, Command string
	Style          template.CSS
	Routes         []simulation.Route
	Campaign       *campaignPart
	Machines       *table
	Run            *runPart
	Sweep          *figure
}

type campaignPart struct {
	Facts    []Fact
	Traces   hashes
	Failures []failureRow
	Faults   figure
}

// hashes are what a campaign says of its traces: of the one run, or of all.
type hashes struct{ One, All string }

type runPart struct {
	Title   string
	Trace   string
	Failed  bool
	Facts   []Fact
	Figures []figure
	// Empty says why there is no space-time diagram.
	Empty bool
}

// Write writes a page. Errors: those of w.
func Write(w io.Writer, d Data) error {
	p := page{Title: d.title(), Command: d.Command, Style: template.CSS(pageStyle), Routes: simulation.Routes()} //nolint:gosec // our own
	if d.Campaign != nil {
		p.Campaign = &campaignPart{slices.Concat(campaignFacts(d.Campaign), d.Figures), hashes{d.Campaign.TraceHash, d.Campaign.TracesHash}, failures(&d), faultsFigure(d.Campaign)}
	}
	if len(d.Machines) > 0 {
		p.Machines = machinesTable(d.Machines)
	}
	if r := d.Run; r != nil {
		p.Run = &runPart{
			Title: r.Title, Trace: r.TraceSum, Failed: r.Failure != "", Facts: runFacts(r),
			Figures: []figure{divergence(r), traffic(r)}, Empty: len(r.Window.Messages) == 0,
		}
		if !p.Run.Empty {
			p.Run.Figures = append(p.Run.Figures, spacetime(r))
		}
	}
	if d.Sweep != nil {
		f := convergence(d.Sweep)
		p.Sweep = &f
	}
	var b bytes.Buffer // so that an error of the template leaves nothing half written
	if err := pageTemplate().Execute(&b, p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// File writes a page to a file, which is there as a whole or as it was before.
// Errors: those of the file system, with the path.
func File(path string, d Data) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	defer func() {
		if err != nil {
			_ = temporary.Close()
			_ = os.Remove(temporary.Name())
			err = fmt.Errorf("report: write %s: %w", path, err)
		}
	}()
	if err = Write(temporary, d); err != nil {
		return err
	}
	const everybodyReads = 0o644
	if err = temporary.Chmod(everybodyReads); err != nil {
		return err
	}
	if err = temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

package report

import (
	"bytes"
	_ "embed" // the page and its style
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
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

// File writes a page to a file, which is there as a whole or as it was before. A
// file that is there keeps its mode, and behind a symbolic link it is the file
// that changes. Errors: those of the file system, with the path, and of what is
// no regular file.
func File(path string, d Data) error {
	return within(path, func(temporary *os.File, to place) error {
		if err := Write(temporary, d); err != nil {
			return err
		}
		if err := temporary.Chmod(to.mode); err != nil {
			return err
		}
		if err := temporary.Close(); err != nil {
			return err
		}
		return os.Rename(temporary.Name(), to.path)
	})
}

// Writable tries whether File could write there, and leaves nothing behind.
// Errors: those of File.
func Writable(path string) error {
	return within(path, func(temporary *os.File, _ place) error {
		return errors.Join(temporary.Close(), os.Remove(temporary.Name()))
	})
}

// within calls fn with a temporary file beside the one that path leads to. What
// goes wrong leaves none.
func within(path string, fn func(temporary *os.File, to place) error) error {
	to, err := placeOf(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(to.path), ".report.*")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := fn(temporary, to); err != nil {
		_ = temporary.Close()
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("report: write %s: %w", path, err)
	}
	return nil
}

// place is where a file is, or will be.
type place struct {
	path string
	mode fs.FileMode
}

// placeOf follows symbolic links to a file that may be written, or to where none
// is yet.
func placeOf(path string) (place, error) {
	const everybodyReads, linksMax = 0o644, 40
	at := path
	for range linksMax {
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return place{at, everybodyReads}, nil
		case err != nil:
			return place{}, err
		case info.Mode()&fs.ModeSymlink != 0:
			if at, err = follow(at); err != nil {
				return place{}, err
			}
			continue
		case !info.Mode().IsRegular():
			return place{}, &fs.PathError{Op: "write", Path: path, Err: errors.New("not a regular file")}
		}
		// A new file takes its place, which asks nobody whether this may be written.
		file, err := os.OpenFile(at, os.O_WRONLY, 0) //nolint:gosec // the caller names it
		if err != nil {
			return place{}, err
		}
		return place{at, info.Mode().Perm()}, file.Close()
	}
	return place{}, &fs.PathError{Op: "write", Path: path, Err: errors.New("too many symbolic links")}
}

// follow returns where a symbolic link leads.
func follow(link string) (string, error) {
	to, err := os.Readlink(link)
	if err != nil || filepath.IsAbs(to) {
		return to, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(link))
	return filepath.Join(folder, to), err
}

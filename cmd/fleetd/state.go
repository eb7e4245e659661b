package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func (a *app) stateCommand() *cobra.Command {
	return a.group("state", "all that this machine holds, as one file", a.stateExport(), a.stateImport())
}

func (a *app) stateExport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "export [FILE|-]", Short: "write sessions, skills, memory and outcomes to one file", Args: cobra.MaximumNArgs(1),
		Long: `Writes everything that this machine holds, deleted records as such, in JSON: to
standard output, or to a file, which is there whole or not at all. The same state
gives the same bytes. fleetd state import reads it.`,
		Example: "  fleetd state export backup.json",
	}
	force := cmd.Flags().Bool("force", false, "replace a file that is there")
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		path := "-"
		if len(args) > 0 {
			path = args[0]
		}
		if err := checkNewFile(path, *force); err != nil {
			return err
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		payload, err := c.Export(ctx)
		if err != nil {
			return err
		}
		payload = append(payload, '\n')
		if path == "-" {
			writeExport(a.out, payload)
			return nil
		}
		if err := writeFile(path, payload); err != nil {
			return failed(exitError, "nothing was written; name a file in a directory that can be written", "%w", err)
		}
		return a.printExported(path, payload)
	})
}

// exported is the result of state export to a file.
type exported struct {
	SchemaVersion int    `json:"schema_version"`
	File          string `json:"file"`
	Bytes         int    `json:"bytes"`
	LastSeq       int64  `json:"last_seq"`
	// Sessions, Turns, Skills and Items count records, deleted ones included.
	Sessions int `json:"sessions"`
	Turns    int `json:"turns"`
	Skills   int `json:"skills"`
	Items    int `json:"items"`
}

func (a *app) printExported(path string, payload []byte) error {
	s, err := state.ReadSnapshot(payload)
	if err != nil {
		return err
	}
	e := exported{wire.SchemaVersion, path, len(payload), s.LastSeq, len(s.Sessions), len(s.Turns), len(s.Skills), len(s.Items)}
	return a.print(e, func(w io.Writer) {
		say(w, "%s: %s with %s, %s, %s, deleted ones included", oneLine(path),
			count(e.Sessions, "session"), count(e.Turns, "turn"), count(e.Skills, "skill"), count(e.Items, "memory item"))
	})
}

// checkNewFile refuses a file that would be replaced without --force.
func checkNewFile(path string, force bool) error {
	if path == "-" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.IsDir():
		return usage(path+" is a directory", "name a file in it")
	case err == nil && !force:
		return failed(exitConflict, "--force replaces it", "%s exists already", path)
	}
	return err
}

// writeFile writes a file that is there whole or not at all, for its owner alone.
func writeFile(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // that it was not written is what counts
		}
	}()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}

// writeExport writes byte for byte where a program reads it; for people it
// escapes what could drive their terminal.
func writeExport(w io.Writer, payload []byte) {
	text := string(payload)
	if isTerminal(w) {
		text = safeJSON(text)
	}
	_, _ = io.WriteString(w, text) // the stream remembers what fails
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/setup"
)

// setupFlags are the flags of fleetd setup.
type setupFlags struct {
	project string
	budget  int
	undo    bool
	force   bool
	dryRun  bool
	yes     bool
}

// contextBudget is how many tokens of context an agent gets at its start. Agents
// take about 10,000 characters of what a hook prints.
const contextBudget = 2000

func agentNames() []string {
	var names []string
	for _, known := range setup.Agents() {
		names = append(names, known.Name())
	}
	return names
}

func (a *app) setupCommand() *cobra.Command {
	var flags setupFlags
	names := agentNames()
	cmd := &cobra.Command{
		Use: "setup " + strings.Join(names, "|"), Short: "make an agent use fleetd: its MCP server, and what it knows at its start", Args: cobra.ExactArgs(1),
		Long: `Writes into the configuration of an agent that fleetd mcp is an MCP server, and
that fleetd context runs when a session begins. It shows what it will change in
which file, and asks. Nothing else in these files changes, doing it again changes
nothing, and --undo takes exactly its own entries back, also when the files were
edited since. An entry of its own that somebody changed is left, and is an error,
unless there is --force.`,
		Example: `  fleetd setup claude
  fleetd setup codex --dry-run
  fleetd setup gemini --project . --yes
  fleetd setup claude --undo`,
		ValidArgs: names,
	}
	cmd.Flags().StringVar(&flags.project, "project", "", "write the files of the project in this directory, not those of the user")
	cmd.Flags().Var((*limitFlag)(&flags.budget), "budget", "how many tokens of context a session begins with (default "+strconv.Itoa(contextBudget)+")")
	cmd.Flags().BoolVar(&flags.undo, "undo", false, "take the entries back")
	cmd.Flags().BoolVar(&flags.force, "force", false, "replace, or take back, what somebody changed too")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "show what would be changed, and write nothing")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		agent, known := setup.Find(args[0])
		switch {
		case !known:
			return usage(fmt.Sprintf("no agent %.60q is known", args[0]), "known are "+strings.Join(names, ", "))
		case cmd.Flags().Changed("project") && flags.project == "":
			return usage("--project is empty", "name the directory of a project, such as --project ., or leave it out for the files of the user")
		case !flags.dryRun && !flags.yes && !isInteractive(a.in):
			return usage("nobody is there to be asked", "--dry-run shows what would be changed, --yes does it")
		}
		return a.setUp(ctx, agent, flags)
	})
}

func (a *app) setUp(ctx context.Context, agent setup.Agent, flags setupFlags) error {
	place, err := a.setupPlace(flags.project)
	if err != nil {
		return err
	}
	run, err := a.setupRun(flags)
	if err != nil {
		return err
	}
	plan, err := planSetup(agent, place, run, flags, flags.force)
	if err != nil {
		return explainSetup(err)
	}
	if len(plan.Kept()) > 0 {
		return a.setupKept(agent, place, run, flags, plan)
	}
	result := setupOf(agent, place, flags, plan)
	if flags.dryRun || plan.Empty() {
		return a.print(result, func(w io.Writer) { showSetup(w, agent, flags, plan) })
	}
	if !flags.yes {
		showSetup(a.errOut, agent, flags, plan)
		if !a.confirm(ctx, "change these files? [y/N] ") {
			return failed(exitError, "nothing was written", "not confirmed")
		}
	}
	done, err := plan.Apply()
	if err != nil {
		f := explainSetup(err)
		if len(done) > 0 {
			f.text += "; written before that: " + strings.Join(done, ", ")
			f.next = strings.TrimSuffix(f.next, "; nothing was written")
		}
		return f
	}
	result.Written = true
	return a.print(result, func(w io.Writer) {
		if flags.yes {
			showSetup(w, agent, flags, plan)
		}
		for _, c := range plan.Changes {
			if c.Outcome != setup.Unchanged {
				say(w, "%s %s", c.Outcome, oneLine(c.Path))
			}
		}
		for _, note := range result.Notes {
			say(w, "note: %s", note)
		}
	})
}

func planSetup(agent setup.Agent, place setup.Place, run setup.Run, flags setupFlags, force bool) (*setup.Plan, error) {
	if flags.undo {
		return setup.Undo(agent, place, run, force)
	}
	return setup.Set(agent, place, run, force)
}

// setupKept shows what somebody changed, and what --force would do to it.
func (a *app) setupKept(agent setup.Agent, place setup.Place, run setup.Run, flags setupFlags, plan *setup.Plan) error {
	forced, err := planSetup(agent, place, run, flags, true)
	if err != nil {
		return explainSetup(err)
	}
	showSetup(a.errOut, agent, flags, forced)
	return &failure{
		text: "nothing was written: changed by somebody, or written with other flags: " + strings.Join(plan.Kept(), ", "), code: exitConflict,
		next: "--force makes of it what is shown above, --dry-run --force shows it again",
	}
}

// setupPlace says whose files are meant.
func (a *app) setupPlace(project string) (setup.Place, error) {
	place := setup.Place{Getenv: a.getenv}
	home, err := os.UserHomeDir()
	if err != nil {
		return place, failed(exitUsage, "set HOME", "there is no home directory: %w", err)
	}
	place.Home = home
	if project == "" {
		return place, nil
	}
	if info, err := os.Stat(project); err != nil || !info.IsDir() {
		return place, usage(fmt.Sprintf("--project %.200q is no directory", project), "name the directory of a project, such as --project .")
	}
	place.Project, err = filepath.Abs(project)
	return place, err
}

// setupRun says how the agent starts this program.
func (a *app) setupRun(flags setupFlags) (setup.Run, error) {
	run := setup.Run{Budget: flags.budget}
	if run.Budget == 0 {
		run.Budget = contextBudget
	}
	self, err := os.Executable()
	if err != nil {
		return run, fmt.Errorf("where is this program: %w", err)
	}
	if run.Command = self; onPath("fleetd", self) {
		run.Command = "fleetd"
	} else if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return run, failed(exitUsage, "go install ./cmd/fleetd, then fleetd setup", "this program is one of go run, and gone when it ends")
	}
	dir, err := a.dir()
	if err != nil {
		return run, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return run, err
	}
	if base, err := dataHome(a.getenv); err != nil || dir != filepath.Join(base, "fleetd") {
		run.Dir = dir
	}
	return run, nil
}

// onPath reports whether a name typed in a shell starts a program.
func onPath(name, program string) bool {
	found, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	one, errOne := os.Stat(found)
	two, errTwo := os.Stat(program)
	return errOne == nil && errTwo == nil && os.SameFile(one, two)
}

// setupResult is what fleetd setup did, or would do.
type setupResult struct {
	SchemaVersion int    `json:"schema_version"`
	Agent         string `json:"agent"`
	Project       string `json:"project,omitempty"`
	Undo          bool   `json:"undo"`
	// Written says that it was done.
	Written bool        `json:"written"`
	Files   []setupFile `json:"files"`
	Notes   []string    `json:"notes"`
}

// setupFile is one file of the agent.
type setupFile struct {
	Path string `json:"path"`
	// Outcome is "created", "changed", "removed" or "unchanged".
	Outcome string `json:"outcome"`
	Diff    string `json:"diff"`
}

func setupOf(agent setup.Agent, place setup.Place, flags setupFlags, plan *setup.Plan) setupResult {
	result := setupResult{
		SchemaVersion: wire.SchemaVersion, Agent: agent.Name(), Project: place.Project, Undo: flags.undo,
		Files: []setupFile{}, Notes: []string{},
	}
	if !flags.undo {
		result.Notes = append(result.Notes, agent.Notes(place)...)
	}
	for _, c := range plan.Changes {
		f := setupFile{Path: c.Path, Outcome: c.Outcome}
		if c.Outcome != setup.Unchanged {
			f.Diff = unifiedDiff(c.Path, c.Before, c.After)
		}
		result.Files = append(result.Files, f)
	}
	return result
}

// showSetup shows the changes of a plan, or that there are none.
func showSetup(w io.Writer, agent setup.Agent, flags setupFlags, plan *setup.Plan) {
	switch {
	case !plan.Empty():
	case flags.undo:
		say(w, "%s: there is nothing of fleetd to take back", agent.Title())
	default:
		say(w, "%s: already set up", agent.Title())
	}
	for _, c := range plan.Changes {
		if c.Outcome != setup.Unchanged {
			_, _ = io.WriteString(w, unifiedDiff(c.Path, c.Before, c.After)) // the stream remembers what fails
		}
	}
}

// explainSetup finds code and advice for an error of package setup.
func explainSetup(err error) *failure {
	f := &failure{text: strings.ReplaceAll(err.Error(), ": setup: ", ": "), code: exitError, next: "correct that file, then repeat it; nothing was written"}
	switch {
	case errors.Is(err, setup.ErrChanged):
		f.code, f.next = exitConflict, "run it again, and look at what it shows"
	case errors.Is(err, fs.ErrPermission):
		f.code, f.next = exitDenied, "the file belongs to another user, or may not be changed: look at its owner and mode"
	}
	return f
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/setup"
)

const (
	// contextTimeout is how long an agent waits for its context at most.
	contextTimeout = 2 * time.Second
	// contextPatience is how long it takes at most when the daemon answers.
	contextPatience = 700 * time.Millisecond
	// hookTimeout is how long an agent may take to say where it works, and
	// hookBytesMax how much of it is read.
	hookTimeout  = 200 * time.Millisecond
	hookBytesMax = 1 << 20
	// tokenBytes is how many bytes count as a token.
	tokenBytes = 4
	// budgetMax bounds a budget, in tokens.
	budgetMax = 1 << 24
	// contextItemsMax is how many items are asked for of each kind.
	contextItemsMax = 500
)

// contextFlags are the flags of fleetd context.
type contextFlags struct {
	budget  int
	project string
	strict  bool
	form    formFlag
}

func (a *app) contextCommand() *cobra.Command {
	flags := contextFlags{budget: contextBudget}
	cmd := &cobra.Command{
		Use: "context", Short: "what an agent should know when a session begins", Args: cobra.NoArgs,
		Long: `Prints the newest memory and the surest skills for the directory that it runs in:
those of the project first, whose name is that of the git repository, or of the
directory, then the global ones. Each says who wrote it and when. What does not
fit is named, with its first words. It takes at most four bytes for each token of
the budget.

It is for hooks that agents run at their start, see fleetd setup. Without a daemon,
and when one does not answer within 2 seconds, it prints nothing and succeeds, so
that the agent starts all the same; --strict exits 3.`,
		Example: `  fleetd context --budget 1000
  fleetd context --project website`,
	}
	cmd.Flags().IntVar(&flags.budget, "budget", contextBudget, "how many tokens it may take, of four bytes each")
	cmd.Flags().Var(&flags.form, "format", "text, or as a hook of an agent prints it: claude, gemini or cursor")
	cmd.Flags().StringVar(&flags.project, "project", "", "the project (default the name of the git repository, or of the directory)")
	cmd.Flags().BoolVar(&flags.strict, "strict", false, "exit 3 when there is no daemon, or it does not answer")
	_ = cmd.RegisterFlagCompletionFunc("format", choice(formNames()...)) // fails for a flag that is not there alone
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		switch {
		case flags.budget < 0 || flags.budget > budgetMax:
			return usage(fmt.Sprintf("--budget %d: want a number from 0 to %d", flags.budget, budgetMax), "such as --budget 2000")
		case a.output == outputJSON && flags.form.form().Hook:
			return usage("-o json and --format "+flags.form.String()+" are two forms", "leave one of them out")
		}
		return a.showContext(ctx, flags)
	})
}

func formNames() []string {
	var names []string
	for _, f := range setup.Forms() {
		names = append(names, f.Name)
	}
	return names
}

// formFlag is the value of --format.
type formFlag string

func (f *formFlag) String() string { return f.form().Name }

func (f *formFlag) Set(text string) error {
	for _, known := range setup.Forms() {
		if known.Name == text {
			*f = formFlag(text)
			return nil
		}
	}
	return errors.New("want text, claude, gemini or cursor")
}

func (*formFlag) Type() string { return "form" }

// form returns the form of that name, the first one when there is none.
func (f *formFlag) form() setup.Form {
	forms := setup.Forms()
	for _, known := range forms {
		if known.Name == string(*f) {
			return known
		}
	}
	return forms[0]
}

// contextResult is what a program gets.
type contextResult struct {
	SchemaVersion int    `json:"schema_version"`
	Project       string `json:"project"`
	// Budget is in tokens, Bytes what the text takes.
	Budget int    `json:"budget"`
	Bytes  int    `json:"bytes"`
	Text   string `json:"text"`
	// Whole and Shortened count the items that are in it, Left those that are not.
	Whole     int `json:"whole"`
	Shortened int `json:"shortened"`
	Left      int `json:"left"`
}

func (a *app) showContext(ctx context.Context, flags contextFlags) error {
	form := flags.form.form()
	project := flags.project
	if project == "" {
		project = projectName(a.workDir(form))
	}
	known, err := a.gather(ctx, project, min(contextItemsMax, flags.budget*tokenBytes/contextItemBytes+1))
	result := contextResult{SchemaVersion: wire.SchemaVersion, Project: project, Budget: flags.budget}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case err != nil:
		f := *a.explain(err)
		if errors.Is(err, context.DeadlineExceeded) {
			f.text, f.next = fmt.Sprintf("the daemon does not answer within %s", contextTimeout), "look at its log"
		}
		if flags.strict {
			f.code, f.kind = exitNotRunning, ""
			return &f
		}
		a.note("fleetd context: nothing to give: %s", oneLine(f.text))
	default:
		composeContext(known, flags.budget*tokenBytes, form.Wrap, &result)
	}
	return a.print(result, func(w io.Writer) {
		if result.Text != "" {
			_, _ = io.WriteString(w, form.Wrap(result.Text)) // the stream remembers what fails
		}
	})
}

// workDir is where the agent works: what it tells its hook, or the present
// directory.
func (a *app) workDir(form setup.Form) string {
	here, _ := os.Getwd() // "" is no project
	if !form.Hook || a.in == nil || isInteractive(a.in) {
		return here
	}
	said := make(chan string, 1)
	go func() { // it ends with the program when nothing comes
		input, _ := io.ReadAll(io.LimitReader(a.in, hookBytesMax)) // a part of it says nothing
		said <- setup.ProjectOf(input)
	}()
	select {
	case dir := <-said:
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
			return dir
		}
	case <-time.After(hookTimeout):
	}
	return here
}

// projectName is the name of the git repository that a directory is in, or of the
// directory.
func projectName(dir string) string {
	if dir == "" {
		return ""
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return filepath.Base(at)
		}
		if at == filepath.Dir(at) {
			return filepath.Base(dir)
		}
	}
}

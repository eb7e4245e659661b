package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
)

// app is one call of the program: its streams, its environment, and the flags
// that every command has.
type app struct {
	in     io.Reader
	out    *stream
	errOut *stream
	env    []string

	dirFlag string
	output  string
	// ran says that a command began: an error before that is one of usage.
	ran bool
	// announced says that fleetd run has printed its result. It is read once the
	// goroutine that sets it has ended.
	announced bool
}

// execute runs one command line and returns the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	root := a.root() //nolint:contextcheck // commands get the context when they run
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	command, err := root.ExecuteContextC(ctx)
	if err != nil && !a.ran {
		if a.output == "" && wantsJSON(args) {
			a.output = outputJSON
		}
		err = usage(command.CommandPath()+": "+misuse(command, err), command.CommandPath()+" --help shows how")
	}
	if err == nil && a.out.err != nil {
		err = fmt.Errorf("standard output: %w", a.out.err)
	}
	return a.report(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "fleetd",
		Short: "share what AI agents learn between machines, without a server",
		Long: `fleetd runs beside AI agents and shares the skills and memory that they write
with the other machines of a fleet: live while they are connected, and later
with whoever comes back. There is no server.

Try it: fleetd demo`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// A root that runs is what makes an unknown command ours to report.
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return cmd.Help()
	}
	root.PersistentFlags().StringVar(&a.dirFlag, "dir", "", "data directory (FLEETD_DIR; default "+defaultDirText()+")")
	root.PersistentFlags().VarP((*outputFlag)(&a.output), "output", "o", "text or json")
	root.AddCommand(
		a.demoCommand(), a.simulateCommand(),
		a.initCommand(), a.runCommand(), a.inviteCommand(), a.joinCommand(), a.rootKeyCommand(),
		a.statusCommand(), a.doctorCommand(), a.membersCommand(), a.peersCommand(), a.revokeCommand(), a.voidCommand(), a.waitCommand(), a.verifyCommand(),
		a.memoryCommand(), a.skillCommand(), a.sessionCommand(), a.conflictsCommand(), a.secretsCommand(), a.revertCommand(), a.stateCommand(),
		a.mcpCommand(), a.setupCommand(), a.contextCommand(),
		a.watchCommand(), a.openapiCommand(), a.versionCommand(),
	)
	root.Version = buildText(build())
	root.SetVersionTemplate("{{.Version}}\n")
	_ = root.RegisterFlagCompletionFunc("output", choice("text", outputJSON)) // fails for a flag that is not there alone
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			refuseAlone(c)
		case "help":
			refuseUnknownHelp(c)
		}
	}
	return root
}

// verb completes a command that does something.
func (a *app) verb(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, "") {
			return errors.New("an argument is empty")
		}
		a.ran = true
		return run(cmd.Context(), args)
	}
	return cmd
}

// ask is verb for a command that asks the daemon.
func (a *app) ask(cmd *cobra.Command, run func(ctx context.Context, c *client.Client, args []string) error) *cobra.Command {
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		return run(ctx, c, args)
	})
}

// group makes a command that only has others below it.
func (a *app) group(use, short string, below ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short}
	group.AddCommand(below...)
	refuseAlone(group)
	return group
}

// refuseAlone makes a command that only has others below it refuse to be called
// by itself. Cobra would print its help and report success.
func refuseAlone(group *cobra.Command) {
	group.Args = cobra.ArbitraryArgs
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		return errors.New("it needs a command: " + strings.Join(names, ", "))
	}
}

// refuseUnknownHelp makes help of a command that there is not an error.
func refuseUnknownHelp(help *cobra.Command) {
	show := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		target, rest, err := cmd.Root().Find(args)
		switch {
		case err != nil:
			return err
		case len(rest) > 0:
			return unknownCommand(target, rest[0])
		}
		show(cmd, args)
		return nil
	}
}

// misuse says in plain words what is wrong with a command line.
func misuse(command *cobra.Command, err error) string {
	text := err.Error()
	if command.HasParent() && !command.HasSubCommands() && strings.HasPrefix(text, "unknown command ") {
		return "it takes no arguments"
	}
	if strings.HasPrefix(text, "accepts ") || strings.HasPrefix(text, "requires ") {
		if given := regexp.MustCompile(`received (\d+)$|only received (\d+)$`).FindStringSubmatch(text); given != nil {
			return countMisuse(command, cmp.Or(given[1], given[2]))
		}
	}
	found := regexp.MustCompile(`(?s)^invalid argument (".*") for "(?:-\w, )?--([a-z-]+)" flag: `).FindStringSubmatch(text)
	if found == nil || command.Flag(found[2]) == nil {
		return text
	}
	want := map[string]string{"int": "a whole number", "duration": "a duration such as 90s or 15m", "bool": "true or false"}
	kind, known := want[command.Flag(found[2]).Value.Type()]
	if !known {
		return text
	}
	return fmt.Sprintf("--%s %s: want %s", found[2], found[1], kind)
}

// countMisuse says which arguments a command takes: cobra counts them.
func countMisuse(command *cobra.Command, given string) string {
	takes := "nothing"
	if _, arguments, found := strings.Cut(command.Use, " "); found {
		takes = arguments
	}
	return fmt.Sprintf("it takes %s, and %s was given: %s", takes, counting(given), command.UseLine())
}

// counting is a number of arguments in words.
func counting(given string) string {
	switch given {
	case "0":
		return "no argument"
	case "1":
		return "one argument"
	}
	return "a list of " + given
}

// choice completes a flag that has few values.
func choice(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("no command %.60q%s", name, hint)
}

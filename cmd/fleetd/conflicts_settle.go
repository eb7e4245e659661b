package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

// recordLong says how the commands below conflicts name a record.
const recordLong = `KIND and KEY are those of fleetd conflicts list, such as skill say-hello. Without a
scope the record may be in any; of several the one that is in conflict counts.`

// record is the record that a command line names.
func record(args []string, scope *scopeFlags) client.Record {
	key := args[1]
	if kind, _, _ := strings.Cut(args[0], "."); kind == "skill" {
		key = unspell(key)
	}
	return client.Record{Kind: args[0], Key: key, Scope: scope.asked()}
}

// recordArguments are a record on a command line.
func recordArguments(kind, key string, scope wire.Scope) string {
	words := []string{kind, quoted(oneLine(key))}
	for _, f := range [...]struct{ flag, value string }{
		{"--instance", scope.Instance}, {"--project", scope.Project}, {"--workspace", scope.Workspace},
	} {
		if f.value != "" {
			words = append(words, f.flag, quoted(oneLine(f.value)))
		}
	}
	if scope == (wire.Scope{}) {
		words = append(words, "--project", "''")
	}
	return strings.Join(words, " ")
}

func (a *app) conflictsKeep() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keep KIND KEY", Short: "settle the conflicts of a record: what won stays", Args: cobra.ExactArgs(2),
		Long: `Writes what won anew, having seen what lost, which is then in conflict no more on
any machine. It stays in the history of the record.

` + recordLong,
		Example: "  fleetd conflicts keep skill say-hello",
	}
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		settled, err := c.Keep(ctx, record(args, scope))
		if err != nil {
			return a.explainRecord(err, scope)
		}
		return a.printSettled(ctx, c, settled, "kept")
	})
}

// hashForm is a hash or its beginning.
var hashForm = regexp.MustCompile(`^[0-9a-fA-F]{1,64}$`)

func (a *app) conflictsRestore() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore KIND KEY HASH", Short: "write a version of a record anew: what lost, or one of its history", Args: cobra.ExactArgs(3),
		Long: `Writes the content of a version anew, over all that the record holds: its
conflicts are settled by it. HASH is that of fleetd conflicts show, of fleetd skill
history or fleetd memory history; its beginning is enough. Restoring a delete
deletes.

` + recordLong,
		Example: "  fleetd conflicts restore skill say-hello 5f0c3a",
	}
	scope := addScope(cmd)
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		if !hashForm.MatchString(args[2]) {
			return usage(fmt.Sprintf("the hash %.80q is not 1 to 64 hexadecimal digits", args[2]),
				"fleetd conflicts show, fleetd skill history and fleetd memory history show hashes")
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		settled, err := c.Restore(ctx, record(args, scope), args[2])
		if err != nil {
			return a.explainRecord(err, scope)
		}
		return a.printSettled(ctx, c, settled, "restored")
	})
}

// printSettled says whose version a record says again.
func (a *app) printSettled(ctx context.Context, c *client.Client, s wire.Settled, what string) error {
	if a.output == outputJSON {
		return a.print(s, nil)
	}
	names, err := memberNames(ctx, c)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s %s, scope %s", oneLine(s.Kind), oneLine(s.Key), oneLine(scopeText(s.Scope)))
	from := fmt.Sprintf("what %s wrote at %s", oneLine(sideText(s.From, names)), stampText(s.From.UpdatedHLC))
	return a.print(s, func(w io.Writer) {
		if g := gatedOf(s.Version); len(g.Held) > 0 {
			say(w, "%s unchanged", name)
			gatedText(w, g, s.Kind, s.Key)
			return
		}
		if !s.Written {
			say(w, "%s unchanged: it says already %s", name, from)
			return
		}
		say(w, "%s: %s %s, as version %d", name, what, from, s.Version.SyncVersion)
	})
}

// explainRecord is explain for a record of any kind.
func (a *app) explainRecord(err error, scope *scopeFlags) error {
	explained := *a.explain(err)
	switch {
	case isProblem(err, wire.CodeNotFound) && strings.Contains(explained.text, "a version whose"):
		explained.next = "fleetd skill history and fleetd memory history show the versions that are left"
	case isProblem(err, wire.CodeNotFound):
		explained.next = "fleetd conflicts list shows what is in conflict"
		if scope.asked() != nil {
			explained.next += "; a scope is exact, and without one all are searched"
		}
	case isProblem(err, wire.CodeAmbiguous) && strings.Contains(explained.text, "the hashes of"):
		explained.next = "type more of the hash"
	}
	return &explained
}

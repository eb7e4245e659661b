package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
)

func (a *app) secretsCommand() *cobra.Command {
	return a.group("secrets", "what is held back on this machine because it holds a key or a token",
		a.secretsList(), a.secretsShow(), a.secretsRelease(), a.secretsRedact())
}

func (a *app) secretsList() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "every record that is held back", Args: cobra.NoArgs,
		Long: `Lists what this machine has written and does not share, since it holds a key or a
token. It is read here as any other record. fleetd secrets redact shares it without
the secret, fleetd secrets release as it is.`,
	}
	return a.ask(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Held(ctx)
		if err != nil {
			return err
		}
		return a.print(list, func(w io.Writer) {
			rows := make([][]string, 0, len(list.Held))
			for _, h := range list.Held {
				rows = append(rows, []string{h.Kind, h.Key, scopeText(h.Scope), timeText(h.At), strings.Join(h.Rules, " ")})
			}
			a.table(w, []string{"KIND", "KEY", "SCOPE", "WHEN", "RULES"}, rows)
		})
	})
}

const heldLong = `KIND and KEY are those of fleetd secrets list, such as memory 019f5e0a. A scope is the
one that the record is meant for; without one it has to be the only one.`

func (a *app) secretsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show KIND KEY", Short: "where in a held record the secrets are", Args: cobra.ExactArgs(2),
		Long: "Shows where the secrets are, and the record without them.\n\n" + heldLong,
	}
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := c.ShowHeld(ctx, record(args, scope))
		if err != nil {
			return a.explainHeld(err)
		}
		return a.print(d, func(w io.Writer) {
			say(w, "%s %s, scope %s, held back since %s", oneLine(d.Kind), oneLine(d.Key), oneLine(scopeText(d.Scope)), timeText(d.At))
			for i, rule := range d.Rules {
				say(w, "%s: %s", rule, d.What[i])
			}
			for _, p := range d.Places {
				say(w, "%s, line %d: %s", p.Field, p.Line, p.Rule)
			}
			say(w, "\nWithout: %s", contentLine(d.Redacted))
		})
	})
}

func (a *app) secretsRelease() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "release KIND KEY", Short: "share a held record as it is, secrets and all", Args: cobra.ExactArgs(2),
		Long: `Writes the record where it was meant to be: every member gets the secret, and keeps
it in its history even when the record is deleted. It asks unless --yes is given.

` + heldLong,
	}
	scope := addScope(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, share it")
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := c.ShowHeld(ctx, record(args, scope))
		if err != nil {
			return a.explainHeld(err)
		}
		question := fmt.Sprintf("share %s %s with every member, with %s in it? [y/N] ", oneLine(d.Kind), oneLine(d.Key), strings.Join(d.What, ", "))
		if !yes && !a.confirm(ctx, question) {
			return failed(exitError, "--yes shares it without a question; fleetd secrets redact leaves the secret out", "nothing was shared")
		}
		released, err := c.Release(ctx, heldRecord(d), d.Hash)
		return a.printReleased(released, "released", err)
	})
}

func (a *app) secretsRedact() *cobra.Command {
	cmd := &cobra.Command{
		Use: "redact KIND KEY", Short: "share a held record without its secrets", Args: cobra.ExactArgs(2),
		Long: "Writes the record where it was meant to be, each secret replaced by [redacted: RULE].\nThe text with the secret stays in the history of this machine alone.\n\n" + heldLong,
	}
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := c.ShowHeld(ctx, record(args, scope))
		if err != nil {
			return a.explainHeld(err)
		}
		released, err := c.Redact(ctx, heldRecord(d), d.Hash)
		return a.printReleased(released, "redacted and shared", err)
	})
}

// heldRecord is the record that was shown, and no other.
func heldRecord(d wire.HeldDetail) client.Record {
	return client.Record{Kind: d.Kind, Key: d.Key, Scope: &d.Scope}
}

func (a *app) printReleased(r wire.Released, what string, err error) error {
	if err != nil {
		return a.explainHeld(err)
	}
	return a.print(r, func(w io.Writer) { say(w, "%s %s %s", oneLine(r.Kind), oneLine(r.Key), what) })
}

// explainHeld is explain for a held record.
func (a *app) explainHeld(err error) error {
	explained := *a.explain(err)
	switch {
	case isProblem(err, wire.CodeNotFound):
		explained.next = "fleetd secrets list shows what is held back"
	case isProblem(err, wire.CodeAmbiguous):
		explained.next = "name the scope: fleetd secrets list shows it"
	}
	return &explained
}

// gatedText says what the gate for secrets makes of a write. kind and key name it for
// the commands above.
func gatedText(w io.Writer, g wire.Gated, kind, key string) {
	name := kind + " " + quoted(oneLine(key))
	switch {
	case len(g.Held) > 0:
		say(w, "held back on this machine: it holds a secret (%s)", strings.Join(g.Held, ", "))
		say(w, "fleetd secrets redact %s shares it without, fleetd secrets release %s as it is", name, name)
	case len(g.Warned) > 0:
		say(w, "warning: it holds a secret (%s) and is shared", strings.Join(g.Warned, ", "))
	}
}

// gatedOf is what the gate says of a version.
func gatedOf(v wire.Version) wire.Gated {
	switch {
	case v.Skill != nil:
		return v.Skill.Gated
	case v.Memory != nil:
		return v.Memory.Gated
	case v.Session != nil:
		return v.Session.Gated
	case v.Turn != nil:
		return v.Turn.Gated
	}
	return wire.Gated{}
}

// keyOf is the key of a record whose id has several parts.
func keyOf(parts ...string) string { return api.KeyText(merge.NewID(parts...)) }

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

// knownKinds are those of which this version writes records; a later one may have
// others.
var knownKinds = [...]string{"memory", "skill", "skill.outcome", "session", "session.turn"}

func (a *app) watchCommand() *cobra.Command {
	var filter wire.EventFilter
	var after string
	var limit int
	cmd := &cobra.Command{
		Use: "watch", Short: "what happens to records, as it happens", Args: cobra.NoArgs,
		Long: `Prints each change of a record, local or from another machine, until it is
interrupted: with -o json one object a line, with the record in it and its
position. --after with the position of the last one goes on without loss or
repetition; 0 is the beginning. When the daemon goes away it waits until it is
back. "reset" says that the position was none of this store: list anew.`,
		Example: `  fleetd watch --kind memory
  fleetd watch -o json --after 0 --limit 10`,
	}
	cmd.Flags().StringVar(&filter.Kind, "kind", "", "only records of this kind, such as memory, skill, session or session.turn")
	cmd.Flags().StringVar(&after, "after", "now", "begin after this position: of an event, a number, or now")
	cmd.Flags().Var((*limitFlag)(&limit), "limit", "end after so many (default never)")
	scope := addScope(cmd)
	return a.ask(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		filter.Scope = scope.asked()
		if filter.Kind != "" && !slices.Contains(knownKinds[:], filter.Kind) {
			a.note("warning: --kind %s: this version knows no such kind, only %s", oneLine(filter.Kind), strings.Join(knownKinds[:], ", "))
		}
		for e, err := range c.Watch(ctx, after, filter) {
			switch {
			case err != nil && ctx.Err() != nil:
				return nil // somebody has seen enough
			case err != nil:
				return err
			}
			if err := a.printEvent(&e); err != nil {
				return err
			}
			if limit--; limit == 0 || a.out.err != nil {
				return nil
			}
		}
		return nil
	})
}

// printEvent prints one event in one line.
func (a *app) printEvent(e *wire.Event) error {
	if a.output != outputJSON {
		say(a.out, "%s", eventText(e))
		return nil
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	say(a.out, "%s", safeJSON(string(raw)))
	return nil
}

func eventText(e *wire.Event) string {
	writer := cmp.Or(e.Writer, e.LastWriterID)
	when := e.Time.Local().Format(time.TimeOnly)
	if e.Type == wire.EventReset {
		return fmt.Sprintf("%s  reset  %s", when, oneLine(e.Reason))
	}
	return fmt.Sprintf("%s  %s  %s  %s  %s, by %s", when, oneLine(e.Type), oneLine(e.Key), oneLine(scopeText(e.Scope)), oneLine(e.Path), oneLine(writer))
}

func (a *app) openapiCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "openapi", Short: "the description of the local HTTP API, in OpenAPI 3.1", Args: cobra.NoArgs,
		Long: "Prints what the daemon answers at /openapi.json. It needs no daemon.",
	}
	return a.verb(cmd, func(context.Context, []string) error {
		raw, err := api.OpenAPI() //nolint:contextcheck // it waits for nothing
		if err != nil {
			return err
		}
		document := json.RawMessage(raw)
		return a.print(document, func(w io.Writer) { _ = writeJSON(w, document) })
	})
}

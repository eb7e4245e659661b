package mcp

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// Status is how the fleet stands, as this machine knows it.
type Status struct {
	InSync bool `json:"in_sync"`
	// Verdict says the same in a sentence, and when not, which member differs and why.
	Verdict string `json:"verdict"`
	// ID and Name are those of this machine.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Records counts what this machine holds of what the fleet shares.
	Records   int64 `json:"records"`
	Conflicts int   `json:"conflicts"`
	// Parked counts versions that wait for authority or for their time, and Wanted
	// the texts that have not come yet.
	Parked  int      `json:"parked"`
	Wanted  int      `json:"wanted"`
	Members []Member `json:"members"`
}

// Member is one machine of the fleet.
type Member struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
	// Behind counts what the member lacks of this machine, Ahead what this machine
	// lacks of it.
	Behind uint64     `json:"behind"`
	Ahead  uint64     `json:"ahead"`
	Since  *time.Time `json:"since,omitempty"`
	Why    string     `json:"why,omitempty"`
}

// Conflict is a write that lost to a concurrent one and is kept.
type Conflict struct {
	Kind   string     `json:"kind"`
	Key    string     `json:"key"`
	Scope  wire.Scope `json:"scope"`
	Winner Version    `json:"winner"`
	Loser  Version    `json:"loser"`
}

// ConflictIndex is the conflicts that nobody has settled, by key.
type ConflictIndex struct {
	Conflicts []Conflict `json:"conflicts"`
	counted
}

func fleetTools() []*tool {
	return []*tool{
		{
			name: "fleet_status", title: "How the fleet stands", group: groupFleet, readOnly: true, idempotent: true,
			about:  "Tell whether the machines of the fleet hold the same, who is offline or behind, and why. Use it when something that should be known is not found.",
			output: schemaOf[Status], run: fleetStatus,
		},
		{
			name: "fleet_conflicts", title: "Writes that lost", group: groupFleet, readOnly: true, idempotent: true,
			about: "List writes that lost to a concurrent one on another machine, with what won. Nothing is gone: memory_history and skill_history read a version by its hash. " +
				"Tell the user about a conflict that matters; fleetd conflicts keep and restore settle it.",
			args:   []argument{{name: "limit", form: formCount, about: "At most so many: 20 unless you say, 200 at most."}},
			output: schemaOf[ConflictIndex], run: fleetConflicts,
		},
	}
}

func fleetStatus(ctx context.Context, c *call) (result, error) {
	st, err := c.node.Status(ctx)
	if err != nil {
		return result{}, err
	}
	out := Status{
		InSync: st.InSync, Verdict: st.Verdict, ID: st.ID, Name: st.Name, Records: st.Records,
		Conflicts: st.Conflicts, Parked: st.Parked, Wanted: st.WantedBlobs, Members: []Member{},
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\nthis machine is %s; %s, %s, %s to come\n",
		st.Verdict, st.Name, plural(int(st.Records), "record", "records"), plural(st.Conflicts, "conflict", "conflicts"), plural(st.WantedBlobs, "text", "texts"))
	for _, m := range st.Members {
		out.Members = append(out.Members, Member{m.ID, m.Name, m.State, m.Behind, m.Ahead, m.Since, m.Why})
		text.WriteString(strings.TrimSpace(fmt.Sprintf("%s: %s %s", m.Name, m.State, m.Why)) + "\n")
	}
	return result{out, strings.TrimSuffix(text.String(), "\n")}, nil
}

func fleetConflicts(ctx context.Context, c *call) (result, error) {
	found, err := c.node.State().Conflicts(ctx)
	if err != nil {
		return result{}, err
	}
	index := ConflictIndex{Conflicts: []Conflict{}, counted: counted{Total: len(found)}}
	text := newLines(c.args.number("limit", limitDefault))
	for i := range found {
		conflict := Conflict{
			Kind: found[i].Key.Kind, Key: api.KeyText(found[i].Key.ID), Scope: wireScope(found[i].Key.Scope),
			Winner: c.version(&found[i].Winner), Loser: c.version(&found[i].Loser),
		}
		if !text.add("%s %s%s: %.12s lost -- %s: %s; won -- %s: %s", api.Named(conflict.Kind), api.Named(conflict.Key), scopeText(found[i].Key.Scope),
			hex.EncodeToString(found[i].Loser.Hash[:]), conflict.Loser.Provenance, conflict.Loser.Snippet,
			conflict.Winner.Provenance, conflict.Winner.Snippet) {
			break
		}
		index.Conflicts = append(index.Conflicts, conflict)
	}
	index.Returned = len(index.Conflicts)
	return result{index, text.end("%d of %s", index.Returned, plural(index.Total, "conflict", "conflicts"))}, nil
}

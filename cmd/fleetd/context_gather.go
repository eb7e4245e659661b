package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

// gathering asks the daemon for what an agent may want to know.
type gathering struct {
	client *client.Client
	known  *contextKnown
	scopes map[wire.Scope]*contextScope
	// allMemory and allSkills say that there is no more than was found at once.
	allMemory, allSkills bool
}

// gather asks for so many items of each kind and scope. What is newest, or surest,
// in all scopes is found at once; only what is then lacking of a scope is asked
// for by itself. That may take long in a large store, and is done without then.
func (a *app) gather(ctx context.Context, project string, need int) (*contextKnown, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, contextTimeout)
	defer cancel()
	brief, cancelBrief := context.WithTimeout(ctx, contextPatience)
	defer cancelBrief()
	known := &contextKnown{project: project}
	g := &gathering{client: c, known: known, scopes: map[wire.Scope]*contextScope{{}: &known.global}}
	if project != "" {
		g.scopes[wire.Scope{Project: project}] = &known.own
	}
	if err := g.first(ctx); err != nil {
		return nil, err
	}
	return known, g.rest(brief, need)
}

// first asks for what comes first in all scopes.
func (g *gathering) first(ctx context.Context) error {
	var memory wire.MemoryList
	var skills wire.SkillReport
	asked, ctx := errgroup.WithContext(ctx)
	asked.Go(func() (err error) {
		g.known.status, err = g.client.Status(ctx)
		return err
	})
	asked.Go(func() (err error) {
		memory, err = g.client.Memories(ctx, client.MemoryQuery{Limit: contextItemsMax})
		return err
	})
	asked.Go(func() (err error) {
		skills, err = g.client.Report(ctx, nil, contextItemsMax)
		return err
	})
	if err := asked.Wait(); err != nil {
		return err
	}
	for _, m := range memory.Items {
		if into := g.scopes[m.Scope]; into != nil {
			into.memory = append(into.memory, m)
		}
	}
	for _, s := range skills.Skills {
		if into := g.scopes[s.Scope]; into != nil {
			into.skills = append(into.skills, s)
		}
	}
	g.allMemory, g.allSkills = len(memory.Items) < contextItemsMax, len(skills.Skills) < contextItemsMax
	return nil
}

// rest asks for what is lacking of each scope.
func (g *gathering) rest(ctx context.Context, need int) error {
	var asked errgroup.Group
	for scope, into := range g.scopes {
		if !g.allMemory && len(into.memory) < need {
			asked.Go(func() error {
				list, err := g.client.Memories(ctx, client.MemoryQuery{Scope: &scope, Limit: need})
				if err == nil {
					into.memory = list.Items
				}
				return unlessLate(err)
			})
		}
		if !g.allSkills && len(into.skills) < need {
			asked.Go(func() error {
				report, err := g.client.Report(ctx, &scope, need)
				if err == nil {
					into.skills = report.Skills
				}
				return unlessLate(err)
			})
		}
	}
	return asked.Wait()
}

// unlessLate is an error, but for an answer that did not come in time.
func unlessLate(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

package main

import (
	"context"
	"errors"
	"slices"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/skillfs"
)

// put writes the skill unless the node holds the same. What it read it names in
// the write, so that a write in between is not lost; after one it reads and
// writes once more, since the caller wants this text whatever was there.
func (f folder) put(ctx context.Context, c *client.Client) (added, error) {
	done, err := f.putOnce(ctx, c)
	if isProblem(err, wire.CodeConflict) {
		done, err = f.putOnce(ctx, c)
	}
	return done, err
}

func (f folder) putOnce(ctx context.Context, c *client.Client) (added, error) {
	in, outcome := f.write.SkillWrite, "added"
	current, err := c.Skill(ctx, f.write.slug, &in.Scope)
	switch {
	case isProblem(err, wire.CodeNotFound):
		in.MustNotExist = true
	case err != nil:
		return added{}, err
	default:
		if !f.write.tagged {
			in.Tags = keptTags(current)
		}
		if *current.Body == in.Body && current.Name == in.Name && slices.Equal(current.Tags, in.Tags) {
			return f.outcome("unchanged", current.Skill), nil
		}
		outcome = "updated"
		in.Check, in.Token = current.Check, current.Token()
	}
	written, err := c.PutSkill(ctx, f.write.slug, in)
	return f.outcome(outcome, written.Skill), err
}

// keptTags are the tags of a stored skill that a text without tags leaves: all,
// unless they came from the text that is replaced.
func keptTags(stored wire.SkillReply) []string {
	document, _, err := skillfs.Parse(stored.Slug, []byte(*stored.Body))
	if err == nil && slices.Equal(document.Tags, stored.Tags) {
		return nil
	}
	return stored.Tags
}

// outcome leaves the text out, as lists do.
func (f folder) outcome(outcome string, sk wire.Skill) added {
	sk.Body = nil
	return added{outcome, f.dir, sk}
}

// explainAdd is explain with what to do about this skill.
func (a *app) explainAdd(f folder, err error) *failure {
	explained := *a.explain(err)
	switch {
	case isProblem(err, wire.CodeConflict):
		explained.text = "somebody else wrote it in between, twice"
		explained.next = "fleetd skill get " + f.write.slug + " shows what is there; repeat fleetd skill add to put this folder over it"
	case isProblem(err, wire.CodeTooLarge):
		explained.text = "a skill may have 8 MB of text, and 64 KB of name, tags and check together"
		explained.next = "shorten its " + skillfs.FileName + ", or the check"
	}
	return &explained
}

// isProblem reports whether the daemon refused with this code.
func isProblem(err error, code wire.Code) bool {
	var problem *wire.Problem
	return errors.As(err, &problem) && problem.Code == code
}

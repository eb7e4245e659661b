package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/fleetsync/fleetd/skillfs"
	"github.com/fleetsync/fleetd/state"
)

// demoSkills are the real skills that the demo shares.
//
//go:embed skills
var demoSkills embed.FS

// The records that the story is about.
const (
	editedSkill  = "debug-flaky-test"
	deletedSkill = "postmortem-notes"
)

// part is one step of the story.
type part struct {
	name  string
	title string
	do    func(ctx context.Context) error
}

func (d *demo) story() []part {
	return []part{
		{"join", "desk begins a fleet. laptop and server join, each with a one-use ticket.", d.join},
		{"share", "Each node writes what its agent knows; the others get it.", d.share},
		{"offline", "laptop goes offline: its node is stopped.", d.offline},
		{"diverge", "Both sides write on. They edit the same skill, and desk deletes one.", d.diverge},
		{"return", "laptop comes back.", d.comeBack},
		{"verify", "What every node holds now.", d.verify},
	}
}

func (d *demo) join(ctx context.Context) error {
	if err := d.fleet.found(ctx); err != nil {
		return err
	}
	root, err := d.fleet.settle(ctx)
	if err != nil {
		return err
	}
	d.tell("   3 members, all with root %.16s", root)
	return nil
}

func (d *demo) share(ctx context.Context) error {
	skills, err := fs.ReadDir(demoSkills, "skills")
	if err != nil {
		return err
	}
	for i, entry := range skills {
		document, _, _, err := skillfs.ReadDir(demoSkills, path.Join("skills", entry.Name()))
		if err != nil {
			return err
		}
		n := d.fleet.nodes[i%len(d.fleet.nodes)]
		sk := state.Skill{Slug: document.Name, Name: document.Name, Body: string(document.Body)}
		if _, err := n.node.State().Skills().Upsert(ctx, sk); err != nil {
			return fmt.Errorf("%s adds skill %s: %w", n.name, sk.Slug, err)
		}
		d.tell("   %-8s adds skill %s", n.name, sk.Slug)
	}
	for i, text := range []string{
		"The integration tests need port 5432 free.", "Answers in English, code comments too.", "Releases go out on Tuesdays.",
	} {
		if err := d.remember(ctx, d.fleet.nodes[i], text); err != nil {
			return err
		}
	}
	root, err := d.fleet.settle(ctx)
	if err != nil {
		return err
	}
	for _, n := range d.fleet.nodes {
		found, err := n.node.State().Skills().Search(ctx, "", 0)
		if err != nil {
			return err
		}
		if len(found) != len(skills) {
			return fmt.Errorf("%s holds %d skills, want %d", n.name, len(found), len(skills))
		}
	}
	d.tell("   every node holds %d skills and 3 memories, root %.16s", len(skills), root)
	return nil
}

func (d *demo) remember(ctx context.Context, n *demoNode, text string) error {
	it := state.MemoryItem{Kind: "fact", Content: text, Source: "fleetd demo"}
	if _, err := n.node.State().Memory().Write(ctx, it); err != nil {
		return fmt.Errorf("%s writes memory: %w", n.name, err)
	}
	d.tell("   %-8s remembers %q", n.name, text)
	return nil
}

// offline stops a node, and opens it again for its own agent alone.
func (d *demo) offline(ctx context.Context) error {
	laptop := d.fleet.nodes[1]
	if err := laptop.close(); err != nil {
		return err
	}
	return d.fleet.open(ctx, laptop)
}

func (d *demo) diverge(ctx context.Context) error {
	desk, laptop := d.fleet.nodes[0], d.fleet.nodes[1]
	var err error
	for i, edit := range []struct {
		by   *demoNode
		line string
	}{
		{laptop, "Note from laptop: look at the clock first, most of ours were time zones."},
		{desk, "Note from desk: run it alone 50 times before reading any code."},
	} {
		if d.edits[i], err = d.edit(ctx, edit.by, edit.line); err != nil {
			return err
		}
	}
	if err := desk.node.State().Skills().Delete(ctx, deletedSkill); err != nil {
		return fmt.Errorf("desk deletes skill %s: %w", deletedSkill, err)
	}
	d.tell("   %-8s deletes skill %s", desk.name, deletedSkill)
	err = errors.Join(
		d.remember(ctx, laptop, "The train has no network between 8 and 9."),
		d.remember(ctx, d.fleet.nodes[2], "The build cache is at 80 %."),
	)
	if err != nil {
		return err
	}
	if _, err := d.fleet.settle(ctx); err != nil {
		return err
	}
	online, apart := desk.node.Root(), laptop.node.Root()
	if online == apart {
		return fmt.Errorf("laptop and desk are equal at %.16s though both wrote apart", online)
	}
	d.tell("   desk and server agree on root %.16s, laptop has %.16s", online, apart)
	return nil
}

// edit adds a line to the skill that both sides edit.
func (d *demo) edit(ctx context.Context, n *demoNode, line string) (body string, err error) {
	skills := n.node.State().Skills()
	sk, err := skills.Get(ctx, editedSkill)
	if err != nil {
		return "", fmt.Errorf("%s reads skill %s: %w", n.name, editedSkill, err)
	}
	sk.Body = strings.TrimRight(sk.Body, "\n") + "\n\n" + line + "\n"
	if _, err := skills.Upsert(ctx, sk); err != nil {
		return "", fmt.Errorf("%s edits skill %s: %w", n.name, editedSkill, err)
	}
	d.tell("   %-8s edits skill %s: %q", n.name, editedSkill, line)
	return sk.Body, nil
}

func (d *demo) comeBack(ctx context.Context) error {
	if err := d.fleet.nodes[1].online(ctx); err != nil {
		return err
	}
	root, err := d.fleet.settle(ctx)
	if err != nil {
		return err
	}
	d.tell("   all three have root %.16s", root)
	return nil
}

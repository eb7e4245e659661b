// Command mutants proves that the simulation notices faults: it plants one at a
// time in production code, runs seeds until one fails, and writes down which
// seed that was and which invariant noticed.
//
//	mutants           # all of them; writes simulation/MUTANTS.md
//	mutants NAME...   # these alone
//	mutants -patches FOLDER
//
// A mutant is a patch beside this file (mutant.go). It is built by way of an
// overlay (hunt.go), so that neither the shipped source nor the checkout has a
// trace of it. A mutant that survives is a blind spot of the simulation, or
// changes nothing that matters: the run fails until one or the other is mended.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// seedsMax is within how many seeds a mutant must be noticed.
const seedsMax = 500

func main() {
	hunting := flag.Uint64("hunt", 0, "run the seeds from 1 up to this one in this very build; mutants calls itself so")
	folder := flag.String("patches", "", "where the patches are, for trying some; then nothing is written")
	seeds := flag.Uint64("seeds", seedsMax, "how many seeds a mutant has to survive")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	if *hunting > 0 {
		err = printCatch(*hunting)
	} else {
		err = run(ctx, *folder, *seeds, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

// run hunts the named mutants of a folder, all when there are no names, and
// writes the table when they are all of this repository.
func run(ctx context.Context, folder string, seeds uint64, names []string) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	tried := folder != "" || seeds != seedsMax || len(names) > 0
	mutants, err := readMutants(cmp.Or(folder, filepath.Join(root, "simulation", "mutants")))
	if err != nil {
		return err
	}
	chosen := mutants
	if len(names) > 0 {
		if chosen, err = choose(mutants, names); err != nil {
			return err
		}
	}
	catches, err := huntAll(ctx, os.Stdout, root, seeds, chosen)
	if err != nil || tried {
		return err
	}
	return os.WriteFile(filepath.Join(root, "simulation", tableFile), []byte(table(mutants, catches)), 0o644) //nolint:gosec // a page for everybody
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("mutants: where is the module? Run this within it: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func choose(mutants []mutant, names []string) ([]mutant, error) {
	var chosen []mutant
	for _, name := range names {
		at := slices.IndexFunc(mutants, func(m mutant) bool { return m.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("mutants: there is no %s%s", name, patchExt)
		}
		chosen = append(chosen, mutants[at])
	}
	return chosen, nil
}

// huntAll hunts mutants one after the other, then the sound code over the same
// seeds, and prints a line for each. It returns what was caught, in the order
// of mutants; errors name every mutant that was not, or not as its patch says.
func huntAll(ctx context.Context, out io.Writer, root string, seeds uint64, mutants []mutant) ([]catch, error) {
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	var failed []error
	var last uint64
	catches := make([]catch, len(mutants))
	for i := range mutants {
		m := &mutants[i]
		began := time.Now()
		if catches[i], err = hunt(ctx, root, folder, m, seeds); err == nil {
			err = m.judge(catches[i], seeds)
		}
		report(out, m.Name, catches[i], time.Since(began), err)
		failed = append(failed, err)
		last = max(last, catches[i].Seed)
	}
	if last > 0 {
		began := time.Now()
		sound, err := hunt(ctx, root, folder, nil, last)
		if err == nil && sound.Seed != 0 {
			err = fmt.Errorf("mutants: seed %d fails without any mutant: %s: %s", sound.Seed, sound.Invariant, sound.Text)
		}
		report(out, "none", sound, time.Since(began), err)
		failed = append(failed, err)
	}
	return catches, errors.Join(failed...)
}

func report(out io.Writer, name string, c catch, took time.Duration, err error) {
	verdict := "no seed fails"
	if c.Seed != 0 {
		verdict = fmt.Sprintf("seed %d, %s", c.Seed, c.Invariant)
	}
	if err != nil {
		verdict += "  WRONG"
	}
	_, _ = fmt.Fprintf(out, "%-28s %-32s %5.1f s  %.150s\n", name, verdict, took.Seconds(), strings.ReplaceAll(c.Text, "\n", " "))
}

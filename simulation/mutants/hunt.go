package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// catch is what seeds made of one build.
type catch struct {
	// Seed is the smallest that fails, 0 for none.
	Seed uint64
	// Invariant noticed; panicked when the code itself did.
	Invariant string
	Text      string
}

// panicked stands in the place of an invariant.
const panicked = "panic"

// huntMax is how long the seeds of one mutant may take. It ends a mutant that
// runs for ever within one instant of virtual time.
const huntMax = 10 * time.Minute

// hunt builds this program with the files of a mutant laid over those of the
// module, nil for none, and lets it run seeds. folder takes what is built.
func hunt(ctx context.Context, root, folder string, m *mutant, seeds uint64) (catch, error) {
	ctx, cancel := context.WithTimeout(ctx, huntMax)
	defer cancel()
	name, files := "none", map[string]string{}
	if m != nil {
		var err error
		if files, err = m.apply(root); err != nil {
			return catch{}, err
		}
		name = m.Name
	}
	overlay, err := writeOverlay(root, folder, files)
	if err != nil {
		return catch{}, err
	}
	program := filepath.Join(folder, "hunt.exe")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, "./simulation/mutants") //nolint:gosec // our own build
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return catch{}, fmt.Errorf("mutants: build %s: %w\n%s", name, err, out)
	}
	run := exec.CommandContext(ctx, program, "-hunt", strconv.FormatUint(seeds, 10)) //nolint:gosec // what was just built
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		return catch{}, fmt.Errorf("mutants: run %s: %w", name, errors.Join(err, ctx.Err()))
	}
	var c catch
	if err := json.Unmarshal(out, &c); err != nil {
		return catch{}, fmt.Errorf("mutants: run %s: %w", name, err)
	}
	return c, nil
}

// writeOverlay writes what `go build -overlay` reads: which files to take from
// elsewhere.
func writeOverlay(root, folder string, files map[string]string) (path string, err error) {
	replace := map[string]string{}
	for file, text := range files {
		stand := filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(stand, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = stand
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// printCatch runs seeds in this build and prints what came of it.
func printCatch(seeds uint64) error { return json.NewEncoder(os.Stdout).Encode(runSeeds(seeds)) }

// runSeeds runs seeds from 1 until one fails, on every processor. What it
// returns does not depend on their number: seeds are begun in order, and those
// before the one that failed run to their end.
func runSeeds(seeds uint64) catch {
	var (
		mu    sync.Mutex // guards next and found
		next  uint64
		found catch
		group sync.WaitGroup
	)
	take := func() (seed uint64, more bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next, next <= seeds && found.Seed == 0
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for seed, more := take(); more; seed, more = take() {
				c := runSeed(seed)
				mu.Lock()
				if c.Seed != 0 && (found.Seed == 0 || seed < found.Seed) {
					found = c
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return found
}

func runSeed(seed uint64) (c catch) {
	defer func() {
		if p := recover(); p != nil {
			c = catch{seed, panicked, fmt.Sprint(p)}
		}
	}()
	cluster, err := simulation.New(simulation.NewPlan(seed), simulation.Options{})
	if err == nil {
		err = cluster.Run()
	}
	if err == nil {
		return catch{}
	}
	if v := (*simulation.Violation)(nil); errors.As(err, &v) {
		return catch{seed, string(v.Invariant), v.Text}
	}
	return catch{seed, "error", err.Error()}
}

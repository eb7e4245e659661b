// Command bench prints what fleetd costs, beside the floor that the same
// machine sets in the same run: a ratio travels between machines, a rate does
// not.
//
//	go -C bench run .            every measurement
//	go -C bench run . writes     only those whose name begins so
//	go -C bench run . sync       what convergence costs, beside what it may (README.md)
//
// FLEETD_CPUPROFILE=FILE writes a CPU profile of the run.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"text/tabwriter"
)

// measurement is one group of rows that share a floor.
type measurement struct {
	name string
	run  func(dir string) ([]row, error)
}

// row is one figure. Ratio compares it with the floor of its group; zero
// leaves the column empty.
type row struct {
	name   string
	value  float64
	unit   string
	ratio  float64
	versus string
}

func main() {
	err := profiled(func() error {
		if len(os.Args) > 1 && os.Args[1] == "sync" {
			return costs(os.Args[2:])
		}
		return run(os.Args[1:])
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// profiled runs fn, under the CPU profiler when a file is named for it.
func profiled(fn func() error) error {
	path := os.Getenv("FLEETD_CPUPROFILE")
	if path == "" {
		return fn()
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	err = fn()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

func run(only []string) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "measurement\tfigure\tunit\tratio\tto")
	for _, m := range []measurement{
		{"writes", writes},
		{"join", join},
		{"burst", burst},
		{"hostile", hostile},
		{"idle", idle},
		{"state", records},
		{"http", overHTTP},
		{"mcp", overMCP},
		{"replay", replay},
		{"disk", disk},
	} {
		if len(only) > 0 && !wanted(only, m.name) {
			continue
		}
		if err := measure(table, m); err != nil {
			return errors.Join(table.Flush(), fmt.Errorf("%s: %w", m.name, err))
		}
	}
	return table.Flush()
}

func wanted(only []string, name string) bool {
	for _, prefix := range only {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func measure(table *tabwriter.Writer, m measurement) error {
	dir, err := os.MkdirTemp("", "fleetd-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	rows, err := m.run(dir)
	for _, r := range rows {
		ratio := ""
		if r.ratio > 0 {
			ratio = fmt.Sprintf("%.2f", r.ratio)
		}
		fmt.Fprintf(table, "%s\t%.0f\t%s\t%s\t%s\n", r.name, r.value, r.unit, ratio, r.versus)
	}
	return err
}

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// cost is one row of what convergence costs. Each case is one object of the
// output for programs; a figure that a case does not have is left out.
type cost struct {
	Case string `json:"case"`
	// N is how many versions the larger side holds, D of how many the other is
	// without: it never had them (missing) or holds older ones (changed).
	N      int    `json:"n"`
	D      int    `json:"d"`
	Kind   string `json:"kind,omitempty"`
	Layout string `json:"layout"`
	// Path is whose answers carried most; Types are the metadata of each type.
	Path  string           `json:"path,omitempty"`
	Types map[string]int64 `json:"types,omitempty"`
	// Bytes are metadata and RecordBytes encoded records as they travel, both
	// ways; RawBytes are those records before the wire's compression.
	Bytes       int64 `json:"bytes"`
	RecordBytes int64 `json:"record_bytes"`
	RawBytes    int64 `json:"raw_bytes,omitempty"`
	// RoundTrips is how many messages had to wait for each other until both
	// sides were equal, halved.
	RoundTrips float64 `json:"round_trips"`
	// CPUms is that of both sides; RecordsCPUms is the part of it in which
	// signatures were checked and records stored.
	CPUms        float64 `json:"cpu_ms"`
	RecordsCPUms float64 `json:"records_cpu_ms"`
	MemMB        float64 `json:"mem_mb"`
	// BoundBytes is what no exchange can do without, PlainBytes what one costs in
	// which each side tells all its item hashes.
	BoundBytes  int64   `json:"bound_bytes"`
	PlainBytes  int64   `json:"plain_bytes,omitempty"`
	RecordsPerS float64 `json:"records_per_s"`
	Negentropy  *rival  `json:"negentropy,omitempty"`
	// Ratio compares records a second with a single pipe.
	Ratio float64 `json:"ratio,omitempty"`

	Aim    aim      `json:"aim,omitzero"`
	Missed []string `json:"missed,omitempty"`
}

// aim is what a case may cost; zero is no aim.
type aim struct {
	Bytes int64   `json:"bytes,omitempty"`
	CPUms float64 `json:"cpu_ms,omitempty"` // without that of the records
	Share float64 `json:"share,omitempty"`  // of all bytes in the raw ones
	Ratio float64 `json:"ratio,omitempty"`  // at least
}

// judge notes which aims were missed.
func (c *cost) judge() {
	missed := func(what string, is bool) {
		if is {
			c.Missed = append(c.Missed, what)
		}
	}
	missed("bytes", c.Aim.Bytes > 0 && c.Bytes > c.Aim.Bytes)
	missed("cpu_ms", c.Aim.CPUms > 0 && c.ownCPU() > c.Aim.CPUms)
	missed("share", c.Aim.Share > 0 && c.share() > c.Aim.Share)
	missed("ratio", c.Aim.Ratio > 0 && c.Ratio < c.Aim.Ratio)
}

// ownCPU is what the exchange itself took, apart from the records that it
// brought.
func (c *cost) ownCPU() float64 { return max(0, c.CPUms-c.RecordsCPUms) }

// share is how much of the raw bytes went over the wire.
func (c *cost) share() float64 {
	if c.RawBytes == 0 {
		return 0
	}
	return float64(c.Bytes+c.RecordBytes) / float64(c.RawBytes)
}

// boundBytes is the information in which d of n items differ: log2 of the ways
// to choose them, in bytes.
func boundBytes(n, d int) int64 {
	choose := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return int64(math.Ceil((choose(n) - choose(d) - choose(n-d)) / math.Ln2 / 8))
}

// costs prints what convergence costs.
func costs(args []string) error {
	flags := flag.NewFlagSet("sync", flag.ContinueOnError)
	n := flags.Int("n", 100_000, "versions that the larger side holds")
	asJSON := flags.Bool("json", false, "print one object a line")
	only := flags.String("case", "", "only the cases whose name holds this")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *n < 1000 {
		return fmt.Errorf("-n %d: the cases need 1,000 versions", *n)
	}
	printer := tablePrinter
	if *asJSON {
		printer = jsonPrinter
	}
	dir, err := os.MkdirTemp("", "fleetd-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l, err := newLab(*n, dir, func(name string) bool { return strings.Contains(name, *only) }, printer(os.Stdout))
	if err != nil {
		return err
	}
	return l.run()
}

func jsonPrinter(w io.Writer) func(cost) error {
	return func(c cost) error { return json.NewEncoder(w).Encode(c) }
}

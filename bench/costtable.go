package main

import (
	"fmt"
	"io"
	"slices"
)

// tablePrinter prints each row when it is known, so the widths are fixed. A
// figure that missed its aim is marked by an exclamation mark.
func tablePrinter(w io.Writer) func(cost) error {
	const form = "%-42s %-10s %11s %9s %11s %6s %6s %9s %9s %9s %7s %8s %6s %9s %9s %24s\n"
	fmt.Fprintf(w, form, "case", "path", "metadata", "aim", "records", "of raw", "trips", "CPU ms", "aim", "+ records", "heap MB", "rec/s", "ratio",
		"bound", "all ids", "negentropy")
	return func(c cost) error {
		share, ratio, other := "", "", ""
		if c.Aim.Share > 0 {
			share = fmt.Sprintf("%.0f%%", 100*c.share())
		}
		if c.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", c.Ratio)
		}
		if r := c.Negentropy; r != nil {
			other = fmt.Sprintf("%s %.0f trips %.0f ms", size(r.Bytes), r.RoundTrips, r.CPUms)
		}
		_, err := fmt.Fprintf(w, form, c.Case, c.Path,
			size(c.Bytes)+c.mark("bytes"), size(c.Aim.Bytes), size(c.RecordBytes), share+c.mark("share"), number(c.RoundTrips),
			number(c.ownCPU())+c.mark("cpu_ms"), number(c.Aim.CPUms), number(c.RecordsCPUms), number(c.MemMB), number(c.RecordsPerS),
			ratio+c.mark("ratio"), size(c.BoundBytes), size(c.PlainBytes), other)
		return err
	}
}

func (c *cost) mark(what string) string {
	if slices.Contains(c.Missed, what) {
		return "!"
	}
	return ""
}

// size prints bytes; none when there are none.
func size(bytes int64) string {
	switch {
	case bytes == 0:
		return ""
	case bytes < 10_000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// number prints three digits; nothing for zero.
func number(v float64) string {
	switch {
	case v == 0:
		return ""
	case v < 1:
		return fmt.Sprintf("%.3f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Command scale measures how the time and the traffic of replication grow with
// the number of replicas, and writes docs/scale.md.
//
//	scale               # all sizes, some minutes
//	scale 3 10          # these sizes, to the standard output
//
// All of it is virtual time and counted messages, from seeds: the page changes
// only when the code does (scale_test.go holds the small sizes to that).
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
)

// page is where the whole run goes, from the root of the module.
const page = "docs/scale.md"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	asked, err := sizesOf(args)
	if err != nil {
		return err
	}
	var rows []row
	for _, n := range asked {
		for _, gossip := range []bool{true, false} {
			r, err := measure(n, gossip)
			if err != nil {
				return fmt.Errorf("%d replicas, gossip %t: %w", n, gossip, err)
			}
			fmt.Fprintln(os.Stderr, r)
			rows = append(rows, r)
		}
	}
	var text bytes.Buffer
	write(&text, rows)
	if len(args) > 0 {
		_, err = out.Write(text.Bytes())
		return err
	}
	return os.WriteFile(page, text.Bytes(), 0o644) //nolint:gosec // a page of the documentation
}

func sizesOf(args []string) ([]int, error) {
	if len(args) == 0 {
		return sizes(), nil
	}
	var asked []int
	for _, arg := range args {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 3 || n > 1000 {
			return nil, fmt.Errorf("%q is no size: want a number from 3 to 1000", arg)
		}
		asked = append(asked, n)
	}
	return asked, nil
}

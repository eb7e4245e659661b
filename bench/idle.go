package main

import (
	"errors"
	"os"
	"time"
)

// idleFor is how long an idle node is looked at: two heartbeats.
const idleFor = 20 * time.Second

// idle measures a fleetd process that has nothing to do: how long it takes until
// it is ready, and what it takes of memory and processor then. Only Linux tells
// this here; elsewhere there is no row.
func idle(dir string) (rows []row, err error) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return nil, nil
	}
	d, err := startDaemon(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.end()) }()
	time.Sleep(5 * time.Second) // what starting needed is given back
	before, err := d.cpu()
	if err != nil {
		return nil, err
	}
	time.Sleep(idleFor)
	after, err := d.cpu()
	if err != nil {
		return nil, err
	}
	kilobytes, err := d.resident()
	return []row{
		{name: "start of a node until it is ready, the command that waits included", value: float64(d.ready.Milliseconds()), unit: "ms"},
		{name: "idle node, resident memory", value: kilobytes / 1024, unit: "MiB"},
		{name: "idle node, of one processor", value: 100 * float64(after-before) / float64(idleFor), unit: "%"},
	}, err
}

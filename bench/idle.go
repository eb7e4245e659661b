package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// idle measures the resident memory of a fleetd process that is ready and has
// nothing to do. Only Linux tells it here; elsewhere there is no row.
func idle(dir string) (rows []row, err error) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return nil, nil
	}
	program := filepath.Join(dir, "fleetd")
	build := exec.Command("go", "build", "-o", program, "./cmd/fleetd")
	build.Dir = ".." // the program is of the module above
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build fleetd: %w: %s", err, out)
	}
	if out, err := exec.Command(program, "init", "--dir", filepath.Join(dir, "idle"), "--name", "idle").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("init: %w: %s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	daemon := exec.CommandContext(ctx, program, "run", "--dir", filepath.Join(dir, "idle"))
	daemon.Cancel = func() error { return daemon.Process.Signal(os.Interrupt) }
	if err := daemon.Start(); err != nil {
		return nil, err
	}
	defer func() {
		cancel()
		if waited := daemon.Wait(); err == nil && !errors.Is(waited, context.Canceled) {
			err = waited
		}
	}()
	if out, err := exec.Command(program, "wait", "ready", "--dir", filepath.Join(dir, "idle")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("wait ready: %w: %s", err, out)
	}
	time.Sleep(5 * time.Second) // what starting needed is given back
	kilobytes, err := resident(daemon.Process.Pid)
	return []row{{name: "idle node, resident memory", value: kilobytes / 1024, unit: "MiB"}}, err
}

// resident returns the resident memory of a process in KiB.
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		}
	}
	return 0, errors.New("no VmRSS")
}

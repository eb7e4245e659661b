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

// daemon is a fleetd process of a fleet of one.
type daemon struct {
	program, dir string
	process      *exec.Cmd
	ready        time.Duration // from its start until it was
	stop         context.CancelFunc
}

// startDaemon builds the program, makes an instance and runs it until end.
func startDaemon(dir string) (*daemon, error) {
	d := &daemon{program: filepath.Join(dir, "fleetd"), dir: filepath.Join(dir, "d")}
	build := exec.Command("go", "build", "-o", d.program, "./cmd/fleetd")
	build.Dir = ".." // the program is of the module above
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build fleetd: %w: %s", err, out)
	}
	if err := d.run("init", "--name", "d"); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.process = exec.CommandContext(ctx, d.program, "run", "--dir", d.dir)
	d.process.Cancel = func() error { return d.process.Process.Signal(os.Interrupt) }
	began := time.Now()
	if err := d.process.Start(); err != nil {
		stop()
		return nil, err
	}
	if err := d.run("wait", "ready"); err != nil {
		return nil, errors.Join(err, d.end())
	}
	d.ready = time.Since(began)
	return d, nil
}

// run runs another command of the program on the same directory.
func (d *daemon) run(args ...string) error {
	if out, err := exec.Command(d.program, append(args, "--dir", d.dir)...).CombinedOutput(); err != nil {
		return fmt.Errorf("fleetd %s: %w: %s", args[0], err, out)
	}
	return nil
}

func (d *daemon) end() error {
	d.stop()
	if err := d.process.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// resident returns the resident memory of the process in KiB.
func (d *daemon) resident() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.process.Process.Pid))
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

// cpu returns what the process has spent of the processors, to 10 ms.
func (d *daemon) cpu() (time.Duration, error) {
	const ticksPerSecond = 100 // USER_HZ, the same on every Linux
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("no times of the process")
	}
	user, errUser := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticksPerSecond, errors.Join(errUser, errSystem)
}

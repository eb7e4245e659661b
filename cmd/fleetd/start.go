package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

const (
	// startTimeout is how long a daemon may take to be ready: one that repairs its
	// store after a crash takes the longest.
	startTimeout = 60 * time.Second
	// startGrace is how long another daemon may take to be ready when the one that
	// was started has ended: somebody else may have started one at the same time.
	startGrace = 5 * time.Second
	// daemonLog is the log of a daemon that was started so, in its data directory.
	daemonLog = "daemon.log"
)

// startDaemon starts the daemon of a data directory, which outlives this process,
// and waits until it is ready.
func (a *app) startDaemon(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	path := filepath.Join(dir, daemonLog)
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // the user names the data directory
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	defer func() { _ = log.Close() }()                                                      // the daemon has its own
	daemon := exec.CommandContext(context.WithoutCancel(ctx), program, "run", "--dir", dir) //nolint:gosec // it is this program
	daemon.Env, daemon.Dir, daemon.Stdout, daemon.Stderr, daemon.SysProcAttr = a.env, dir, log, log, detached()
	if err := daemon.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	a.note("started the daemon of %s, process %d; its log is %s", dir, daemon.Process.Pid, path)
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	go func() {
		// How it ended is in its log.
		_ = daemon.Wait()
		select {
		case <-time.After(startGrace):
			cancel()
		case <-limited.Done():
		}
	}()
	ready, err := poll(limited, startTimeout, readyEvery, a.isReady)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.Canceled), err == nil && !ready:
		return failed(exitNotRunning, "look at its log: "+path, "the daemon did not start")
	}
	return err
}

// isReady asks the daemon whether it has come up. One whose disk is full, or whose
// clock is wrong, has: it serves reads, and says why not writes.
func (a *app) isReady(ctx context.Context) (bool, error) {
	c, err := a.connect()
	if err != nil {
		return false, err
	}
	defer c.Close()
	health, err := c.Ready(ctx)
	if errors.Is(err, client.ErrNotRunning) || errors.Is(err, client.ErrLost) {
		return false, nil
	}
	up := slices.ContainsFunc(health.Checks, func(c wire.Check) bool { return c.Name == wire.CheckNode && c.OK })
	return up, err
}

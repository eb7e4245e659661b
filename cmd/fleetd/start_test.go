package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// stopDaemon is the command stopdaemon, for a daemon that no script started
// itself.
func stopDaemon(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(interruptDaemon(ts.MkAbs(args[0])))
}

// stopStarted stops what a script that failed has left running.
func stopStarted(t *testing.T, dir string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*", daemonLog))
	if err != nil {
		t.Error(err)
	}
	for _, log := range logs {
		if err := interruptDaemon(filepath.Dir(log)); err != nil {
			t.Error(err)
		}
	}
}

// interruptDaemon interrupts the daemon that fleetd mcp started for a data
// directory, and waits until it has ended. One that has ended is fine.
func interruptDaemon(dir string) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for tries := 0; ; tries++ {
		log, err := os.ReadFile(filepath.Join(dir, daemonLog))
		if err != nil {
			return err
		}
		if bytes.Count(log, []byte("node ends")) == bytes.Count(log, []byte("node starts")) {
			return nil
		}
		if tries == 1000 {
			return errors.New("the daemon does not end")
		}
		lock, err := os.ReadFile(filepath.Join(dir, "lock"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		first, _, _ := strings.Cut(string(lock), "\n")
		if pid, err := strconv.Atoi(strings.TrimSpace(first)); err == nil && tries == 0 {
			process, err := os.FindProcess(pid)
			if err != nil {
				return err
			}
			_ = process.Signal(os.Interrupt) // it may have ended just now
		}
		<-again.C
	}
}

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestADaemonThatDoesNotStopIsLeft after a while, and one that does is waited for.
func TestADaemonThatDoesNotStopIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		stuck := make(chan struct{})
		begun := time.Now()
		if err := ended(ctx, func() error { <-stuck; return nil }); !errors.Is(err, errNotStopped) || time.Since(begun) != stopMax {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		close(stuck)
		why := errors.New("why")
		if err := ended(ctx, func() error { time.Sleep(stopMax / 2); return why }); !errors.Is(err, why) {
			t.Errorf("one that stops: %v", err)
		}
	})
}

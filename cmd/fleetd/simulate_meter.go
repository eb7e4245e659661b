package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fleetsync/fleetd/simulation/campaign"
)

// meter shows a person how far it is, in one line that is written over. It
// says nothing when nobody looks.
type meter struct {
	to    io.Writer // nil: nobody looks
	began time.Time
	mu    sync.Mutex // guards shown
	shown time.Time
}

func (a *app) meter() *meter {
	p := &meter{began: time.Now()}
	if a.errOut.isTerminal {
		p.to = a.errOut
	}
	return p
}

// say replaces the line, at most ten times a second.
func (p *meter) say(format string, args ...any) {
	const pause = 100 * time.Millisecond
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to == nil || time.Since(p.shown) < pause {
		return
	}
	p.shown = time.Now()
	_, _ = fmt.Fprintf(p.to, "\r\x1b[K"+format, args...) // nothing depends on it
}

// seed tells of one more seed.
func (p *meter) seed(at campaign.Progress) {
	rate := float64(at.Done) / time.Since(p.began).Seconds()
	p.say("%s of %s seeds, %.1f a second, %s node-hours, %s faults, %d failures",
		grouped(int64(at.Done)), grouped(int64(at.Total)), rate, grouped(int64(at.NodeHours)), grouped(int64(at.Faults)), at.Failures)
}

// end clears the line.
func (p *meter) end() {
	if p.to != nil {
		_, _ = io.WriteString(p.to, "\r\x1b[K")
	}
}

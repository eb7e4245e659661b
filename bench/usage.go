package main

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"syscall"
	"time"
)

// cpuTime returns what this process has spent of its processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("getrusage: " + err.Error()) // its arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// usage is what something took.
type usage struct {
	wall, cpu time.Duration
	// heap is the largest growth of the heap: of what was alive, as the garbage
	// collector saw it, or, when it ran too seldom to tell, garbage included.
	heap int64
}

const (
	// heapEvery is how often the heap is looked at.
	heapEvery = 5 * time.Millisecond
	// heapSeenMin is how many collections tell what was alive.
	heapSeenMin = 5
)

// measured runs fn, once the garbage of what came before is gone.
func measured(fn func() error) (usage, error) {
	runtime.GC()
	base := readHeap()
	peak := base
	var watch sync.WaitGroup
	stop := make(chan struct{})
	watch.Go(func() {
		ticker := time.NewTicker(heapEvery)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				peak = peak.max(readHeap())
			}
		}
	})
	began, cpu := time.Now(), cpuTime()
	err := fn()
	u := usage{wall: time.Since(began), cpu: cpuTime() - cpu}
	close(stop)
	watch.Wait()
	peak = peak.max(readHeap())
	u.heap = peak.all - base.all
	if peak.collections-base.collections >= heapSeenMin {
		u.heap = peak.alive - base.alive
	}
	return u, err
}

// heap is a look at it, in bytes.
type heap struct{ all, alive, collections int64 }

func readHeap() heap {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	return heap{int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64()), int64(samples[2].Value.Uint64())}
}

func (h heap) max(o heap) heap {
	return heap{max(h.all, o.all), max(h.alive, o.alive), max(h.collections, o.collections)}
}

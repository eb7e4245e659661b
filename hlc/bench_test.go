package hlc_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
)

func BenchmarkNow(b *testing.B) {
	b.ReportAllocs()
	clock := hlc.NewClock(time.Now, hlc.Timestamp{})
	for b.Loop() {
		if _, err := clock.Now(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	b.ReportAllocs()
	clock := hlc.NewClock(time.Now, hlc.Timestamp{})
	remote := stamp(p, 0)
	for b.Loop() {
		remote.Counter++
		if err := clock.Observe(remote); err != nil {
			b.Fatal(err)
		}
	}
}

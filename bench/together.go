package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// together calls op for each number below n, by so many goroutines, until one
// fails.
func together(goroutines, n int, op func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n) && failed.Load() == nil; i = next.Add(1) {
				if err := op(int(i - 1)); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// perSecond calls op so many times, one after the other, and returns the rate.
func perSecond(times int, op func(i int) error) (float64, error) {
	began := time.Now()
	for i := range times {
		if err := op(i); err != nil {
			return 0, err
		}
	}
	return float64(times) / time.Since(began).Seconds(), nil
}

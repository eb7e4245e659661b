package main

import (
	"context"
	"errors"
	"time"
)

// burst measures 10,000 writes on one node as fast as 64 writers can, until
// all of them are on another.
func burst(dir string) (rows []row, err error) {
	const n = 10_000
	ctx := context.Background()
	a, err := founder(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.end()) }()
	dirB, err := joiner(ctx, a, dir, "b")
	if err != nil {
		return nil, err
	}
	b, err := start(ctx, dirB)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	if _, err := a.fill(ctx, 1); err != nil {
		return nil, err
	}
	if err := b.await(1); err != nil { // connected and gossiping
		return nil, err
	}
	began := time.Now()
	wrote, err := a.fill(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := b.await(n + 1); err != nil {
		return nil, err
	}
	all := time.Since(began)
	return []row{
		{name: "burst of 10,000 writes on A", value: n / wrote.Seconds(), unit: "writes/s"},
		{name: "all of the burst on B", value: n / all.Seconds(), unit: "records/s", ratio: wrote.Seconds() / all.Seconds(), versus: "the writes on A"},
	}, nil
}

package main

import (
	"encoding/hex"
	"sync"
	"time"

	"github.com/nbd-wtf/go-nostr"
	"github.com/nbd-wtf/go-nostr/nip77/negentropy"
	"github.com/nbd-wtf/go-nostr/nip77/negentropy/storage/vector"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// rival is what another implementation of range reconciliation needs to find
// the same differences: it fetches nothing.
type rival struct {
	Bytes      int64   `json:"bytes"`
	RoundTrips float64 `json:"round_trips"`
	CPUms      float64 `json:"cpu_ms"`
	// Found are the items that one side has and the other has not.
	Found int `json:"found"`
}

// negentropyOf reconciles what two stores hold by negentropy. Frames have no
// limit, which suits it best; making its sorted vectors is not counted.
func negentropyOf(mine, theirs *store.Store) (rival, error) {
	items, err := vectorOf(mine)
	if err != nil {
		return rival{}, err
	}
	others, err := vectorOf(theirs)
	if err != nil {
		return rival{}, err
	}
	client, server := negentropy.New(items, 0), negentropy.New(others, 0)
	var r rival
	took, err := measured(func() error {
		var found [2]int
		var drained sync.WaitGroup
		for i, ids := range [2]chan string{client.Haves, client.HaveNots} {
			drained.Go(func() {
				for range ids {
					found[i]++
				}
			})
		}
		message := client.Start()
		for message != "" {
			r.Bytes += int64(len(message) / 2) // it speaks hexadecimal
			answer, err := server.Reconcile(message)
			if err != nil {
				return err
			}
			r.Bytes += int64(len(answer) / 2)
			r.RoundTrips++
			if message, err = client.Reconcile(answer); err != nil {
				return err
			}
		}
		drained.Wait()
		r.Found = found[0] + found[1]
		return nil
	})
	r.CPUms = milliseconds(took.cpu)
	return r, err
}

// vectorOf lists what a store holds: the stamps and item hashes.
func vectorOf(st *store.Store) (*vector.Vector, error) {
	v := vector.New()
	err := st.View(func(r *store.Reader) error {
		return r.Range(memorySection, "", func(_ merge.Key, held []store.Held) bool {
			for _, h := range held {
				v.Insert(nostr.Timestamp(h.Stamp.Wall), hex.EncodeToString(h.Hash[:]))
			}
			return true
		})
	})
	v.Seal()
	return v, err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

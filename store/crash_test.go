package store_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

const (
	crashDirVariable   = "FLEETD_CRASH_DIR"
	crashRoundVariable = "FLEETD_CRASH_ROUND"
	crashSeedVariable  = "FLEETD_CRASH_SEED"
	crashRounds        = 8
)

// TestCrash kills a process that writes, again and again, at random points.
// After each kill everything that it had acknowledged is there, the parts of
// the store agree, and the clock goes on after every acknowledged stamp.
// FLEETD_CRASH_SEED repeats a run's points.
func TestCrash(t *testing.T) {
	if os.Getenv(crashDirVariable) != "" {
		t.Skip("this is the process to be killed")
	}
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv(crashSeedVariable); given != "" {
		parsed, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = parsed
	}
	t.Logf("%s=%d", crashSeedVariable, seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the points of the kills, not a secret
	dir := t.TempDir()
	acknowledged := map[string]merge.Hash{}
	var newest hlc.Timestamp
	for round := range crashRounds {
		for key, ack := range killAfter(t, dir, round, 1+random.IntN(300)) {
			acknowledged[key] = ack.hash
			if ack.stamp.After(newest) {
				newest = ack.stamp
			}
		}
		s, err := store.Open(openBadger(t, dir), crashConfig())
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		for _, state := range s.Sections() {
			if state.Suspect {
				t.Errorf("round %d: %+v is suspect", round, state)
			}
		}
		wantAcknowledged(t, s, acknowledged)
		stamp, err := s.Clock().Now()
		if err != nil || !stamp.After(newest) {
			t.Errorf("round %d: the clock issues %s, %v, after %s was acknowledged", round, stamp, err, newest)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d acknowledged writes survived %d kills", len(acknowledged), crashRounds)
}

func wantAcknowledged(t *testing.T, s *store.Store, acknowledged map[string]merge.Hash) {
	t.Helper()
	err := s.View(func(r *store.Reader) error {
		for id, hash := range acknowledged {
			rec, err := r.Head(storetest.Key("memory", "", id))
			if err != nil || rec.Hash() != hash {
				t.Errorf("acknowledged %s is lost: %v", id, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

type ack struct {
	hash  merge.Hash
	stamp hlc.Timestamp
}

// killAfter runs the writing process until it has acknowledged n times, kills
// it, and returns everything that it had acknowledged by then.
func killAfter(t *testing.T, dir string, round, n int) map[string]ack {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$", "-test.v") //nolint:gosec // this binary
	child.Env = append(os.Environ(), crashDirVariable+"="+dir, crashRoundVariable+"="+strconv.Itoa(round))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acks := map[string]ack{}
	var other []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		text, found := strings.CutPrefix(lines.Text(), "ack ")
		if !found {
			other = append(other, lines.Text())
			continue
		}
		fields := strings.Fields(text)
		stamp, err := hlc.Parse(fields[2])
		hash, errHash := hex.DecodeString(fields[1])
		if err != nil || errHash != nil {
			t.Fatalf("line %q: %v, %v", text, err, errHash)
		}
		acks[fields[0]] = ack{merge.Hash(hash), stamp}
		if len(acks) == n {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || len(acks) < n {
		t.Fatalf("the child ended by itself: %v\n%s", err, strings.Join(other, "\n"))
	}
	return acks
}

func crashConfig() store.Config {
	seed := uint64(time.Now().UnixNano())
	return store.Config{Now: time.Now, Rand: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})}
}

// TestCrashChild is the process that TestCrash kills: eight writers, each of
// whom writes new keys and one key that all share, and one that merges batches
// until memtables are full within a few rounds.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDirVariable)
	if dir == "" {
		t.Skip("only for TestCrash")
	}
	s, err := store.Open(openBadger(t, dir), crashConfig())
	if err != nil {
		t.Fatal(err)
	}
	round := os.Getenv(crashRoundVariable)
	var mu sync.Mutex
	acknowledge := func(rec merge.Record) {
		mu.Lock()
		defer mu.Unlock()
		hash := rec.Hash()
		if _, err := fmt.Fprintf(os.Stdout, "ack %s %x %s\n", rec.Key.ID, hash[:], rec.Envelope.UpdatedHLC); err != nil {
			t.Error(err)
		}
	}
	body := strings.Repeat("x", 1_000)
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := 0; ; i++ {
				k := storetest.Key("memory", "", fmt.Sprintf("%s-%d-%d", round, w, i))
				rec, err := storetest.Put(t.Context(), s, "self", k, body)
				if err != nil {
					t.Error(err)
					return
				}
				acknowledge(rec)
				if _, err := storetest.Put(t.Context(), s, "self", storetest.Key("skill", "", "shared"), body); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Go(func() {
		author := storetest.NewAuthor(merge.InstanceID("author "+round), s.Clock().Last())
		for i := range 20 {
			b := store.Batch{Path: store.PathFeed}
			for j := range 100 {
				b.Records = append(b.Records, author.Write(storetest.Key("memory", "", fmt.Sprintf("%s-m-%d-%d", round, i, j)), body, 0))
			}
			if _, err := s.Merge(t.Context(), b); err != nil {
				t.Error(err)
				return
			}
			acknowledge(b.Records[0])
			acknowledge(b.Records[len(b.Records)-1])
		}
	})
	group.Wait()
}

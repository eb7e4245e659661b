package fleet_test

import (
	"encoding/hex"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// begin is the time at which every test starts, in milliseconds.
const begin = int64(1_790_000_000_000)

// at returns the stamp some milliseconds after begin.
func at(ms int64) hlc.Timestamp { return hlc.Timestamp{Wall: begin + ms} }

func timeAt(ms int64) time.Time { return time.UnixMilli(begin + ms).UTC() }

// source returns a reader of random bytes, always the same for one n.
func source(n byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{n}) }

// newIdentity returns the identity number n: always the same one.
func newIdentity(tb testing.TB, n byte) fleet.Identity {
	tb.Helper()
	id, err := fleet.NewIdentity(source(n))
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

// grant seals a grant and fails the test when that is not possible.
func grant(tb testing.TB, f merge.FleetID, issuer fleet.Identity, g fleet.Grant, stamp hlc.Timestamp) *merge.Record {
	tb.Helper()
	rec, err := fleet.SealGrant(f, issuer, g, stamp)
	if err != nil {
		tb.Fatal(err)
	}
	return &rec
}

// write seals a version of an ordinary key.
func write(tb testing.TB, f merge.FleetID, writer fleet.Identity, key merge.Key, stamp hlc.Timestamp) *merge.Record {
	tb.Helper()
	rec, err := merge.Seal(merge.Record{
		Fleet: f, Key: key,
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: writer.ID(), UpdatedHLC: stamp, LastWriterID: writer.ID()},
		Basis:    merge.Basis{}.With(writer.ID(), stamp),
		Body:     []byte{0xa0},
	}, merge.Ed25519, writer.Sign)
	if err != nil {
		tb.Fatal(err)
	}
	return &rec
}

// learn teaches statements that have to be valid.
func learn(tb testing.TB, a *fleet.Authority, recs ...*merge.Record) {
	tb.Helper()
	if _, err := a.LearnAll(recs); err != nil {
		tb.Fatal(err)
	}
	for _, rec := range recs {
		if j := a.Judge(rec); !j.Admitted {
			tb.Fatalf("%s: %s", rec.Key, j)
		}
	}
}

// small is a fleet of root, one admin and one member, known to authority.
type small struct {
	root, admin, member fleet.Identity
	fleet               merge.FleetID
	authority           *fleet.Authority
	adminGrant          *merge.Record
	memberGrant         *merge.Record
}

func newSmall(tb testing.TB) small {
	tb.Helper()
	s := small{root: newIdentity(tb, 1), admin: newIdentity(tb, 2), member: newIdentity(tb, 3)}
	s.fleet = fleet.FleetIDOf(s.root.Public())
	s.authority = fleet.NewAuthority(s.fleet)
	s.adminGrant = grant(tb, s.fleet, s.root, fleet.Grant{Member: s.admin.ID(), Name: "desk", Role: fleet.RoleAdmin}, at(0))
	s.memberGrant = grant(tb, s.fleet, s.admin, fleet.Grant{
		Member: s.member.ID(), Name: "laptop", Role: fleet.RoleMember, Capabilities: fleet.DefaultCapabilities(),
	}, at(10))
	learn(tb, s.authority, s.adminGrant, s.memberGrant)
	return s
}

// golden is one vector of testdata: lines "name: value", in which # begins a
// comment. Vectors are never edited, only added.
type golden map[string]string

func readGolden(tb testing.TB, file string) golden {
	tb.Helper()
	b, err := fs.ReadFile(os.DirFS("testdata/vectors"), file)
	if err != nil {
		tb.Fatal(err)
	}
	g := golden{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			g[name] = value
		}
	}
	return g
}

func (g golden) hex(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(g[name])
	if err != nil || len(b) == 0 {
		tb.Fatalf("vector %q: %v", name, err)
	}
	return b
}

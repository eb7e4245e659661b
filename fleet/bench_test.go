package fleet_test

import (
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// BenchmarkVerify measures signatures of ten writers over records of 1 KB, one
// by one and in batches.
func BenchmarkVerify(b *testing.B) {
	recs := signedRecords(b, 1024, 10)
	b.Run("single", func(b *testing.B) {
		for i := range b.N {
			if !fleet.VerifyOne(recs[i%len(recs)]) {
				b.Fatal("refused")
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sigs/s")
	})
	verifier := fleet.NewVerifier(crand.Reader)
	for _, size := range []int{1, 16, 64, 256, 1024} {
		b.Run(fmt.Sprintf("batch of %d", size), func(b *testing.B) {
			for range b.N {
				for _, ok := range verifier.Verify(recs[:size]) {
					if !ok {
						b.Fatal("refused")
					}
				}
			}
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "sigs/s")
		})
	}
}

// BenchmarkJudge measures one judgement in a fleet of 1,000 members.
func BenchmarkJudge(b *testing.B) {
	s, _ := newLarge(b, 1000)
	rec := write(b, s.fleet, s.member, merge.Key{Kind: "skill", Scope: merge.Scope{Project: "web"}, ID: "deploy"}, at(50))
	b.ReportAllocs()
	for b.Loop() {
		if !s.authority.Judge(rec).Admitted {
			b.Fatal("not admitted")
		}
	}
}

// BenchmarkJudgeBanned measures one judgement in a fleet of 100 members and 50
// bans: of a member that is not banned, of one that a ban does not cover yet,
// and of one below a thousand floors.
func BenchmarkJudgeBanned(b *testing.B) {
	s, _ := newLarge(b, 100)
	var bans []*merge.Record
	for i, m := range s.authority.Members()[:50] {
		if m.ID != s.admin.ID() && m.ID != s.member.ID() {
			bans = append(bans, ban(b, s.fleet, s.admin, fleet.Ban{Writer: m.ID, From: at(1000)}, at(int64(2000+i))))
		}
	}
	learn(b, s.authority, bans...)
	key := merge.Key{Kind: "skill", Scope: merge.Scope{Project: "web"}, ID: "deploy"}
	measure := func(name string, rec *merge.Record) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !s.authority.Judge(rec).Admitted {
					b.Fatal("not admitted")
				}
			}
		})
	}
	measure("not banned", write(b, s.fleet, s.member, key, at(50)))
	learn(b, s.authority, ban(b, s.fleet, s.admin, fleet.Ban{Writer: s.member.ID(), From: at(1000)}, at(3000)))
	measure("not yet banned", write(b, s.fleet, s.member, key, at(50)))
	learn(b, s.authority, floor(b, s.fleet, s.admin, fleet.Floor{Section: key.Section(), Entries: entries(1000, at(1))}, at(month+1)))
	measure("not below a floor", write(b, s.fleet, s.member, key, at(50)))
}

// BenchmarkLearn measures what a node of a fleet of 1,000 members does when it
// starts, and when one more member joins.
func BenchmarkLearn(b *testing.B) {
	s, recs := newLarge(b, 1000)
	b.Run("1,000 members at once", func(b *testing.B) {
		for b.Loop() {
			learn(b, fleet.NewAuthority(s.fleet), recs...)
		}
	})
	b.Run("1,000 members one by one", func(b *testing.B) {
		for b.Loop() {
			a := fleet.NewAuthority(s.fleet)
			for _, rec := range recs {
				if changed, err := a.Learn(rec); !changed || err != nil {
					b.Fatal(changed, err)
				}
			}
		}
	})
}

// newLarge returns a fleet of so many members, and its statements.
func newLarge(tb testing.TB, members int) (small, []*merge.Record) {
	tb.Helper()
	s := newSmall(tb)
	recs := []*merge.Record{s.adminGrant, s.memberGrant}
	for i := range members - 2 {
		id := merge.InstanceOf(binary.BigEndian.AppendUint64(make([]byte, 24), uint64(i)))
		recs = append(recs, grant(tb, s.fleet, s.admin, fleet.Grant{
			Member: id, Name: fmt.Sprintf("box %d", i), Role: fleet.RoleMember, Capabilities: fleet.DefaultCapabilities(),
		}, at(int64(100+i))))
	}
	learn(tb, s.authority, recs...)
	return s, recs
}

// signedRecords returns n records of 1 KB by so many writers.
func signedRecords(tb testing.TB, n, writers int) []*merge.Record {
	tb.Helper()
	recs := make([]*merge.Record, n)
	for i := range recs {
		id := newIdentity(tb, byte(100+i%writers))
		stamp := at(int64(i))
		rec, err := merge.Seal(merge.Record{
			Fleet:    merge.FleetID{1},
			Key:      merge.Key{Kind: "memory", ID: merge.NewID(fmt.Sprintf("item-%d", i))},
			Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: id.ID(), UpdatedHLC: stamp, LastWriterID: id.ID()},
			Basis:    merge.Basis{}.With(id.ID(), stamp),
			Body:     make([]byte, 1024),
		}, merge.Ed25519, id.Sign)
		if err != nil {
			tb.Fatal(err)
		}
		recs[i] = &rec
	}
	return recs
}

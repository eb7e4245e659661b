package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// benchRecords is how many skills and items a provider holds beforehand.
const benchRecords = 10_000

func benchProviders(b *testing.B, run func(b *testing.B, p state.Provider)) {
	b.Helper()
	for _, engine := range []struct {
		name string
		open func() store.Engine
	}{
		{"memory", func() store.Engine { return store.NewMemory() }},
		{"badger", func() store.Engine { return openBadger(b, b.TempDir()) }},
	} {
		b.Run(engine.name, func(b *testing.B) {
			p := openSigned(b, engine.open(), newKey(), nil)
			defer func() { must(b, p.Close()) }()
			for i := range benchRecords {
				if _, err := p.Skills().Upsert(b.Context(), benchSkill(i)); err != nil {
					b.Fatal(err)
				}
				if _, err := p.Memory().Write(b.Context(), benchItem(i)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			run(b, p)
		})
	}
}

func benchSkill(i int) state.Skill {
	body := fmt.Sprintf("---\nname: skill-%d\n---\n", i) + strings.Repeat("Run the tests before you deploy. ", 30)
	return state.Skill{Slug: fmt.Sprintf("skill-%05d", i), Name: "Skill", Body: body, Tags: []string{"ops", "ci"}}
}

func benchItem(i int) state.MemoryItem {
	return state.MemoryItem{
		ID: fmt.Sprintf("item-%05d", i), Kind: "fact", Source: "session 7",
		Content: fmt.Sprintf("Fact %d. ", i) + strings.Repeat("The build needs Go 1.26. ", 40),
	}
}

func BenchmarkSkillUpdate(b *testing.B) {
	benchProviders(b, func(b *testing.B, p state.Provider) {
		b.Helper()
		for i := 0; b.Loop(); i++ {
			if _, err := p.Skills().Upsert(b.Context(), benchSkill(i%benchRecords)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMemoryWrite(b *testing.B) {
	benchProviders(b, func(b *testing.B, p state.Provider) {
		b.Helper()
		for i := 0; b.Loop(); i++ {
			it := benchItem(i)
			it.ID = ""
			if _, err := p.Memory().Write(b.Context(), it); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMemoryWriteParallel(b *testing.B) {
	benchProviders(b, func(b *testing.B, p state.Provider) {
		b.Helper()
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				it := benchItem(i)
				it.ID = ""
				if _, err := p.Memory().Write(b.Context(), it); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func BenchmarkSkillGet(b *testing.B) {
	benchProviders(b, func(b *testing.B, p state.Provider) {
		b.Helper()
		for i := 0; b.Loop(); i++ {
			if _, err := p.Skills().Get(b.Context(), fmt.Sprintf("skill-%05d", i%benchRecords)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The lists below read all of the 10,000 records, but for the last.

func BenchmarkSkillList(b *testing.B) {
	benchProviders(b, func(b *testing.B, p state.Provider) {
		b.Helper()
		for b.Loop() {
			if list, err := p.Skills().List(b.Context(), state.Scope{}); err != nil || len(list) != benchRecords {
				b.Fatal(len(list), err)
			}
		}
	})
}

func BenchmarkSkillSearch(b *testing.B) {
	benchProviders(b, func(b *testing.B, p state.Provider) {
		b.Helper()
		for b.Loop() {
			if found, err := p.Skills().Search(b.Context(), "skill-00007 deploy", 0); err != nil || len(found) != 1 {
				b.Fatal(len(found), err)
			}
		}
	})
}

func BenchmarkRecallNewest(b *testing.B) {
	benchProviders(b, func(b *testing.B, p state.Provider) {
		b.Helper()
		for b.Loop() {
			if found, err := p.Memory().Recall(b.Context(), state.RecallQuery{Query: "build", Limit: 10}); err != nil || len(found) != 10 {
				b.Fatal(len(found), err)
			}
		}
	})
}

package secrets_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/secrets"
)

// prose is text such as agents write, without a secret.
func prose(bytes int) string {
	const sentence = "The build of `api/wire` needs port 5432 free; run `make check` first, see https://example.com/docs?id=7 " +
		"and commit 77452f9cc0ffee. Authorization is by token, keys lie in ~/.config (task_live_sync). 日本語 too.\n"
	return strings.ToValidUTF8(strings.Repeat(sentence, bytes/len(sentence)+1)[:bytes], "")
}

func BenchmarkFind(b *testing.B) {
	for name, bytes := range map[string]int{"1KiB": 1 << 10, "64KiB": 64 << 10, "8MiB": 8 << 20} {
		b.Run(name, func(b *testing.B) { benchmark(b, prose(bytes)) })
	}
}

// BenchmarkHostile is of texts that make as much work as they can: the beginnings
// of secrets without end, by rule.
func BenchmarkHostile(b *testing.B) {
	table := examples()
	for _, id := range slices.Sorted(maps.Keys(table)) {
		// The longest beginning of which nothing is found: all of it, but for the end.
		text := table[id].found[0]
		for len(secrets.Find(text)) > 0 {
			text = text[:len(text)-1]
		}
		for _, between := range []string{"", ".", "-", " ", "="} {
			b.Run(id+between, func(b *testing.B) { benchmark(b, strings.Repeat(text+between, 1<<20/(len(text)+1))) })
		}
	}
}

func benchmark(b *testing.B, text string) {
	b.Helper()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		secrets.Find(text)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(float64(len(text))/1024), "ns/KiB")
}

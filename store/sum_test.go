package store_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// TestSum compares sums with big integers modulo 2^256.
func TestSum(t *testing.T) {
	modulus := new(big.Int).Lsh(big.NewInt(1), 256)
	genHash := rapid.Custom(func(t *rapid.T) merge.Hash {
		fill := rapid.SampledFrom([]byte{0, 0xff, 0x80, 1}).Draw(t, "fill")
		var h merge.Hash
		for i := range h {
			h[i] = fill
		}
		h[rapid.IntRange(0, 31).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		return h
	})
	rapid.Check(t, func(t *rapid.T) {
		var sum store.Sum
		want := new(big.Int)
		for _, h := range rapid.SliceOfN(genHash, 1, 20).Draw(t, "items") {
			item := new(big.Int).SetBytes(h[:])
			if rapid.Bool().Draw(t, "add") {
				sum, want = sum.Add(h), want.Add(want, item)
			} else {
				sum, want = sum.Sub(h), want.Sub(want, item)
			}
			want.Mod(want, modulus)
		}
		got := sum.Bytes()
		if new(big.Int).SetBytes(got[:]).Cmp(want) != 0 {
			t.Errorf("sum is %x, want %x", got, want)
		}
		half := store.Sum{}.Join(sum)
		if half.Less(sum) != (store.Sum{}) {
			t.Errorf("a sum less itself is %v", half.Less(sum))
		}
	})
}

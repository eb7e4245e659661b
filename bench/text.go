package main

import "math/rand/v2"

const (
	// vocabularySize and drawsMax make texts that the wire's compressor brings to
	// about two fifths in pages of many records, as it does with people's prose.
	vocabularySize = 32768
	drawsMax       = 1 << 16
)

// vocabulary is the words of all texts, always the same, and how often each is
// drawn: a few very often, most of them seldom, as in prose.
type vocabulary struct {
	draws [drawsMax]string
}

var words = newVocabulary()

func newVocabulary() *vocabulary {
	rng := rand.New(rand.NewPCG(1, 2))
	var known [vocabularySize]string
	for i := range known {
		word := make([]byte, 2+rng.IntN(8))
		for at := range word {
			letters := "etaoinshrdlucmfwygpbvk"
			word[at] = letters[min(rng.IntN(len(letters)), rng.IntN(len(letters)))]
		}
		known[i] = string(word)
	}
	zipf := rand.NewZipf(rng, 1.01, 8, vocabularySize-1)
	v := &vocabulary{}
	for i := range v.draws {
		v.draws[i] = known[zipf.Uint64()]
	}
	return v
}

// text returns n bytes of words.
func text(n int) []byte { return textOf(rand.IntN, n) }

// textOf is text by one's own source of numbers below a bound.
func textOf(intN func(int) int, n int) []byte {
	b := make([]byte, 0, n+16)
	for len(b) < n {
		b = append(b, words.draws[intN(drawsMax)]...)
		b = append(b, ' ')
	}
	return b[:n]
}

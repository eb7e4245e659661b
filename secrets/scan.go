package secrets

import (
	"math/bits"
	"strings"
	"sync"
)

// Texts are long and secrets rare, so that nearly all of the time goes into seeing
// that there is nothing: one pass asks of each three bytes whether an anchor, the
// fixed part of some rule, begins so. Only there rules are tried.

// anchorBytes is how much of an anchor the pass looks at; none is shorter.
const anchorBytes = 3

// filterBits is the size of the filter: with about 200 entries one place in 80 passes
// it for nothing, and it stays in the fastest cache.
const filterBits = 14

// candidate is one anchor of a rule.
type candidate struct {
	text string
	// fold says that its case does not matter; then text is in lower case.
	fold bool
	rule *Rule
}

// index leads from the beginnings of anchors to rules.
type index struct {
	filter [1 << filterBits / 64]uint64
	by     map[[anchorBytes]byte][]candidate
}

// rules is the index of all rules, made when it is first needed.
var rules = sync.OnceValue(func() *index {
	x := &index{by: map[[anchorBytes]byte][]candidate{}}
	all := All()
	for i := range all {
		for _, anchor := range all[i].anchors {
			for _, begins := range spellings(anchor[:anchorBytes], all[i].fold) {
				c := candidate{text: anchor, fold: all[i].fold, rule: &all[i]}
				x.by[begins] = append(x.by[begins], c)
				h := hashOf(uint32(begins[0])<<16 | uint32(begins[1])<<8 | uint32(begins[2]))
				x.filter[h/64] |= 1 << (h % 64)
			}
		}
	}
	return x
})

// spellings are the ways to write a text of ASCII: one, or every mix of cases.
func spellings(text string, fold bool) [][anchorBytes]byte {
	plain := [anchorBytes]byte([]byte(text))
	if !fold {
		return [][anchorBytes]byte{plain}
	}
	var all [][anchorBytes]byte
	for mask := range uint(1 << anchorBytes) {
		spelt, isNew := plain, true
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros(m)
			if spelt[i] < 'a' || spelt[i] > 'z' {
				isNew = false
				break
			}
			spelt[i] -= 'a' - 'A'
		}
		if isNew {
			all = append(all, spelt)
		}
	}
	return all
}

// hashOf is the place of three bytes in the filter.
func hashOf(three uint32) uint32 { return three * 0x9E3779B1 >> (32 - filterBits) }

// scan returns what every rule finds, in the order of the anchors.
func scan(text string) []Finding {
	if len(text) < anchorBytes {
		return nil
	}
	x := rules()
	var found []Finding
	reader := reader{text: text, done: map[*Rule]int{}}
	three := uint32(text[0])<<8 | uint32(text[1])
	for i := 2; i < len(text); i++ {
		three = (three<<8 | uint32(text[i])) & 0xffffff
		h := hashOf(three)
		if x.filter[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		at := i - 2
		for _, c := range x.by[[anchorBytes]byte{text[at], text[at+1], text[at+2]}] {
			if !c.begins(text[at:]) {
				continue
			}
			if start, end, ok := reader.try(c.rule, at, len(c.text)); ok {
				found = append(found, Finding{Rule: c.rule.ID, Start: start, End: end})
			}
		}
	}
	return found
}

func (c *candidate) begins(text string) bool {
	if !c.fold {
		return strings.HasPrefix(text, c.text)
	}
	return len(text) >= len(c.text) && strings.EqualFold(text[:len(c.text)], c.text)
}

// reader tries rules at the places of one text.
type reader struct {
	text string
	// runStart and runEnd are the run of token characters that was measured last:
	// many anchors in one long run must not measure it each.
	runStart, runEnd int
	// done is where the last finding of each rule ends: it finds nothing inside of
	// what it has found.
	done map[*Rule]int
}

// try looks at an anchor that begins at a byte.
func (r *reader) try(rule *Rule, at, anchorLen int) (start, end int, ok bool) {
	if at < r.done[rule] {
		return 0, 0, false
	}
	if rule.find != nil {
		start, end, ok = rule.find(r.text, at, anchorLen)
	} else {
		start, end, ok = r.match(rule, at)
	}
	if ok {
		r.done[rule] = end
	}
	return start, end, ok
}

// match is try for a rule that is a pattern.
func (r *reader) match(rule *Rule, at int) (start, end int, ok bool) {
	from := at - rule.before
	if from < 0 || rule.continues(before(r.text, from)) {
		return 0, 0, false
	}
	run := r.run(from)
	m := rule.pattern.FindStringSubmatchIndex(run)
	if m == nil || m[1] < len(run) && isWordByte[run[m[1]]] {
		return 0, 0, false
	}
	// The secret is the group, where there is one.
	start, end = m[0], m[1]
	if len(m) > 2 {
		start, end = m[2], m[3]
	}
	if rule.check != nil && !rule.check(run[start:end]) {
		return 0, 0, false
	}
	return from + start, from + end, true
}

// before returns the byte before a place; 0 at the beginning.
func before(text string, at int) byte {
	if at == 0 {
		return 0
	}
	return text[at-1]
}

// run returns the text from a byte on up to what no token holds.
func (r *reader) run(from int) string {
	if from < r.runStart || from >= r.runEnd {
		r.runStart, r.runEnd = from, from
		for r.runEnd < len(r.text) && isToken[r.text[r.runEnd]] {
			r.runEnd++
		}
	}
	return r.text[from:r.runEnd]
}

// isToken are the bytes that tokens are made of, of all rules together, and those
// between a name and its value.
var isToken = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=%:")

// isWordByte are the bytes that a token neither follows nor precedes.
var isWordByte = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")

func bytesOf(text string) (set [256]bool) {
	for i := range len(text) {
		set[text[i]] = true
	}
	return set
}

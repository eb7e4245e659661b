package main

import (
	"slices"
	"strings"
)

// diffCellsMax bounds the table of a comparison: of texts that differ in more
// lines, all those count as changed.
const diffCellsMax = 4 << 20

// edit is one line of a comparison: kept (' '), of before alone ('-') or of after
// alone ('+').
type edit struct {
	op   byte
	line string
}

// diffLines returns the lines that only one of two texts has, in order, those of
// before after "- " and those of after after "+ ": as few as a longest common
// subsequence leaves.
func diffLines(before, after string) []string {
	var changed []string
	for _, e := range compareLines(linesOf(before), linesOf(after)) {
		if e.op != ' ' {
			changed = append(changed, string(e.op)+" "+e.line)
		}
	}
	return changed
}

// compareLines returns how one list of lines becomes another.
func compareLines(a, b []string) (edits []edit) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		edits = append(edits, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	var end []edit
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		end = append(end, edit{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	i, j := 0, 0
	for common := commonLines(a, b); i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			edits = append(edits, edit{' ', a[i]})
			i, j = i+1, j+1
		case common == nil || common[i+1][j] >= common[i][j+1]:
			edits = append(edits, edit{'-', a[i]})
			i++
		default:
			edits = append(edits, edit{'+', b[j]})
			j++
		}
	}
	for ; i < len(a); i++ {
		edits = append(edits, edit{'-', a[i]})
	}
	for ; j < len(b); j++ {
		edits = append(edits, edit{'+', b[j]})
	}
	slices.Reverse(end)
	return append(edits, end...)
}

func linesOf(text string) []string {
	return slices.Collect(strings.SplitSeq(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n"))
}

// commonLines returns for each pair of ends how many lines they have in common
// at most; nil when that is too much to ask.
func commonLines(a, b []string) [][]int32 {
	if len(a)*len(b) > diffCellsMax {
		return nil
	}
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}

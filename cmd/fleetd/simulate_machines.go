package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// replicaNumber is how messages of the simulation name a machine.
var replicaNumber = regexp.MustCompile(`replicas? ([0-9]+)(?: and ([0-9]+))?`)

// mentioned says what the replicas are called that a message names by number,
// each once; empty for none.
func (r *scenarioResult) mentioned(message string) string {
	var parts []string
	said := map[int]bool{}
	for _, match := range replicaNumber.FindAllStringSubmatch(message, -1) {
		for _, number := range match[1:] {
			n, err := strconv.Atoi(number)
			if err != nil || n >= len(r.Machines) || said[n] {
				continue
			}
			said[n] = true
			parts = append(parts, fmt.Sprintf("replica %d is %s", n, oneLine(r.Machines[n])))
		}
	}
	return strings.Join(parts, ", ")
}

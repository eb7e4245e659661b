package node

import (
	"maps"
	"strings"
	"sync"

	"github.com/fleetsync/fleetd/state"
)

// secretCounts counts, by rule, what the gate for secrets has held back since the
// node was opened. The zero value is ready. It is safe for concurrent use.
type secretCounts struct {
	mu   sync.Mutex // guards all following fields
	held map[string]uint64
}

func (s *secretCounts) add(rules []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[string]uint64{}
	}
	for _, rule := range rules {
		s.held[rule]++
	}
}

// byRule returns the counts. The caller owns the map.
func (s *secretCounts) byRule() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.held)
}

// secretFound notes that the gate has found something in a write of this node. The
// text is in neither the log nor the counts.
func (n *Node) secretFound(found state.Noticed) {
	attrs := []any{"kind", found.Kind, "key", found.Key, "scope", found.Scope.String(), "rules", strings.Join(found.Rules, " ")}
	if !found.Held {
		n.log.Warn("a write holds a secret and goes out", attrs...)
		return
	}
	n.secrets.add(found.Rules)
	n.log.Warn("a write holds a secret and is held back", attrs...)
}

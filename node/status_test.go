package node_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/node"
)

func TestVerdictNamesWhoDiffers(t *testing.T) {
	self := node.Member{Name: "me", State: node.MemberSelf}
	equal := node.Member{Name: "desk", State: node.MemberInSync}
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		members []node.Member
		inSync  bool
		want    string
	}{
		"alone":        {[]node.Member{self}, true, "in sync: this node is the whole fleet"},
		"all equal":    {[]node.Member{equal, self, equal}, true, "in sync with 2 of 2 members"},
		"one offline":  {[]node.Member{self, equal, {Name: "nas", State: node.MemberOffline, Since: since, Why: "not reached"}}, false, "in sync with 1 of 2 members: nas is offline since 2026-03-01T12:00:00Z (not reached)"},
		"one behind":   {[]node.Member{self, {Name: "nas", State: node.MemberBehind, Lacks: 12, Since: since}}, false, "in sync with 0 of 1 members: nas is behind by 12 since 2026-03-01T12:00:00Z"},
		"one ahead":    {[]node.Member{self, {Name: "nas", State: node.MemberAhead, Behind: 3}}, false, "in sync with 0 of 1 members: nas is ahead by up to 3"},
		"one syncing":  {[]node.Member{self, {Name: "nas", State: node.MemberSyncing, Behind: 3}}, false, "in sync with 0 of 1 members: nas is syncing, up to 3 to fetch"},
		"a stranger":   {[]node.Member{self, {Name: "nas", State: node.MemberNeverSeen, Why: "no address of it is known"}}, false, "in sync with 0 of 1 members: nas was never seen (no address of it is known)"},
		"incompatible": {[]node.Member{self, {Name: "nas", State: node.MemberIncompatible, Why: "too old"}}, false, "in sync with 0 of 1 members: nas is incompatible (too old)"},
		"many": {
			append([]node.Member{self}, slices.Repeat([]node.Member{{Name: "x", State: node.MemberOffline}}, 5)...),
			false, "in sync with 0 of 5 members: x is offline; x is offline; x is offline; and 2 more",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inSync, text := node.Verdict(tt.members)
			if inSync != tt.inSync || text != tt.want {
				t.Errorf("got %v, %q\nwant %v, %q", inSync, text, tt.inSync, tt.want)
			}
		})
	}
}

func TestProbeConverged(t *testing.T) {
	tests := map[string]struct {
		members []node.Answer
		want    bool
	}{
		"alone":               {nil, true},
		"nobody answered":     {[]node.Answer{{}, {}}, false},
		"one answered, equal": {[]node.Answer{{}, {Answered: true, Equal: true}}, true},
		"one is not equal":    {[]node.Answer{{Answered: true, Equal: true}, {Answered: true}}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			probe := node.Probe{Members: tt.members}
			if got := probe.Converged(); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

package node_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/multiformats/go-multiaddr"

	"github.com/fleetsync/fleetd/node"
)

// A configuration that is accepted survives being written and read again.
func FuzzConfigFile(f *testing.F) {
	def := node.DefaultConfig()
	f.Add(string(def.RenderConfig()))
	f.Add("listen: [/ip4/127.0.0.1/tcp/1]\ndiscovery: {mdns: true}\nreconnect: {min: 1s, max: 2s}\npeers: {max: 3}")
	f.Add("a: &a [x]\nb: *a")
	f.Add("swarm_key: |\n  /key/swarm/psk/1.0.0/")
	f.Fuzz(func(t *testing.T, text string) {
		cfg := node.DefaultConfig()
		if cfg.ParseConfig([]byte(text)) != nil {
			return
		}
		cfg.Dir = "d"
		if cfg.Validate() != nil {
			return
		}
		again := node.DefaultConfig()
		for _, s := range node.Settings() {
			value, _ := cfg.Get(s.Key)
			if err := again.Set(s.Key, value); err != nil {
				t.Fatalf("%s: %q was accepted, and is not any more: %v", s.Key, value, err)
			}
		}
		again.Dir = "d"
		if len(cfg.Listen) == 0 {
			cfg.Listen, again.Listen = nil, nil
		}
		if diff := cmp.Diff(cfg, again); diff != "" {
			t.Fatalf("%q reads back as another configuration:\n%s", text, diff)
		}
	})
}

// Whatever a peer says of addresses, what is kept can be dialled.
func FuzzAddresses(f *testing.F) {
	member := newIdentity(f).ID()
	for _, addrs := range [][]string{nil, {"/ip4/192.0.2.1/tcp/1"}, {"/ip4/0.0.0.0/tcp/1", "x"}} {
		b, err := node.EncodeAddresses(member, addrs)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kept, err := node.DecodeAddresses(b)
		if err != nil {
			return
		}
		for _, text := range kept {
			if addr, err := multiaddr.NewMultiaddr(text); err != nil || addr.String() != text {
				t.Errorf("kept %q, which reads as %v, %v", text, addr, err)
			}
		}
	})
}

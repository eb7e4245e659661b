package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/node"
)

func readConfig(t *testing.T, text string) (node.Config, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := node.ReadConfig(dir)
	if err == nil {
		err = cfg.Validate()
	}
	cfg.Dir = ""
	return cfg, err
}

func TestConfigFile(t *testing.T) {
	defaults := node.DefaultConfig()
	with := func(change func(*node.Config)) node.Config {
		cfg := defaults
		change(&cfg)
		return cfg
	}
	tests := map[string]struct {
		text string
		want node.Config
	}{
		"an empty file":  {"", defaults},
		"comments alone": {"# nothing\n", defaults},
		"an empty level": {"discovery:\n", defaults},
		"one address":    {"listen: /ip4/0.0.0.0/tcp/4001", with(func(c *node.Config) { c.Listen = []string{"/ip4/0.0.0.0/tcp/4001"} })},
		"a list":         {"listen:\n  - /ip4/127.0.0.1/tcp/1\n  - /ip4/127.0.0.1/udp/1/quic-v1\n", with(func(c *node.Config) { c.Listen = []string{"/ip4/127.0.0.1/tcp/1", "/ip4/127.0.0.1/udp/1/quic-v1"} })},
		"an empty list":  {"listen: []", with(func(c *node.Config) { c.Listen = nil })},
		"sharing":        {"share:\n  sessions: true", with(func(c *node.Config) { c.ShareSessions = true })},
		"levels":         {"discovery:\n  mdns: true\nreconnect:\n  min: 1s\n  max: 2m\n", with(func(c *node.Config) { c.MDNS, c.ReconnectMin, c.ReconnectMax = true, time.Second, 2*time.Minute })},
		"numbers and words": {"gossip: false\npeers:\n  max: 7\nstore: memory\nheartbeat: 1s", with(func(c *node.Config) {
			c.Gossip, c.PeersMax, c.StoreKind, c.HeartbeatEvery = false, 7, node.StoreMemory, time.Second
		})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readConfig(t, tt.text)
			got.Dir = tt.want.Dir
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestConfigErrorsNameTheKey(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an unknown key":            {"listn: x", `unknown key "listn"`},
		"an unknown key in a level": {"discovery:\n  mdsn: true", `unknown key "discovery.mdsn"`},
		"a level that is none":      {"gossip:\n  on: true", `unknown key "gossip"`},
		"a private-network key":     {"swarm_key: abc", "QUIC refuses one and it cannot be revoked"},
		"another spelling of it":    {"network:\n  psk: abc", `unknown key "network"`},
		"yet another":               {"private-network-key: abc", "only members of the fleet can connect"},
		"an address that is none":   {"listen: localhost:80", "listen:"},
		"an address of no use":      {"listen: /dns4/x.example/http", "listen:"},
		"no duration":               {"heartbeat: soon", `heartbeat: "soon"`},
		"too short":                 {"heartbeat: 1ms", "heartbeat:"},
		"bounds upside down":        {"reconnect:\n  min: 1m\n  max: 1s", "reconnect.max:"},
		"not true or false":         {"gossip: perhaps", `gossip: "perhaps"`},
		"a list for one value":      {"gossip: [true, false]", "gossip: 2 values"},
		"no value":                  {"gossip:", "gossip: 0 values"},
		"too many peers":            {"peers:\n  max: 100000", "peers.max:"},
		"an unknown family":         {"share:\n  skills: false", `unknown key "share.skills"`},
		"an unknown store":          {"store: sqlite", `store: "sqlite"`},
		"no YAML":                   {"listen: [", "config.yaml"},
		"a key twice":               {"gossip: true\ngossip: false", "config.yaml"},
		"far too long":              {strings.Repeat("#", node.ConfigBytesMax+1), "at most"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := node.ReadConfig(dir)
			if err == nil {
				err = cfg.Validate()
			}
			if !errors.Is(err, node.ErrConfig) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// What init writes reads back as what it was written from, and every setting
// is in it.
func TestInitWritesEverySetting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	initAt(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := node.ReadConfig(dir)
	want := node.DefaultConfig()
	want.Dir, want.Listen = dir, loopback()
	if diff := cmp.Diff(want, cfg); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	uncommented := strings.ReplaceAll(string(text), "\n# ", "\n")
	for _, s := range node.Settings() {
		_, last, nested := strings.Cut(s.Key, ".")
		if !nested {
			last = s.Key
		}
		if !strings.Contains(uncommented, last+":") {
			t.Errorf("config.yaml does not show %s", s.Key)
		}
	}
}

func TestSettingsHaveTextForms(t *testing.T) {
	values := map[string]string{
		"listen": "/ip4/127.0.0.1/tcp/1,/ip4/127.0.0.1/udp/2/quic-v1", "discovery.mdns": "true", "gossip": "false", "share.sessions": "true",
		"heartbeat": "20s", "reconnect.min": "1s", "reconnect.max": "1m0s", "peers.max": "9", "store": "memory", "api.listen": "127.0.0.1:7411", "mcp.start": "true",
		"secrets.gate": "warn",
		"share.rules":  `keep memory project="a, b",share session project=web workspace=main,keep *`,
	}
	cfg := node.DefaultConfig()
	for _, s := range node.Settings() {
		value, ok := values[s.Key]
		if !ok {
			t.Errorf("no value for %s", s.Key)
			continue
		}
		if err := cfg.Set(s.Key, value); err != nil {
			t.Errorf("set %s: %v", s.Key, err)
		}
		if got, ok := cfg.Get(s.Key); !ok || got != value {
			t.Errorf("%s is %q, want %q", s.Key, got, value)
		}
	}
	if got := node.Settings()[1].Env(); got != "FLEETD_DISCOVERY_MDNS" {
		t.Errorf("environment variable %s", got)
	}
	if err := cfg.Set("swarm.key", "x"); !errors.Is(err, node.ErrConfig) || !strings.Contains(err.Error(), "QUIC") {
		t.Errorf("a private-network key by the environment: %v", err)
	}
	if _, ok := cfg.Get("nothing"); ok {
		t.Error("a key that does not exist has a value")
	}
}

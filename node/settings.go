package node

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/state"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Setting describes one key of the configuration.
type Setting struct {
	// Key is its name in config.yaml, with dots between levels.
	Key string
	// Help says what it does and what is allowed, in one line.
	Help string

	get func(*Config) string
	set func(*Config, []string) error
}

// Env returns the name of the environment variable of the setting.
func (s Setting) Env() string {
	return "FLEETD_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Settings returns every key, in the order of config.yaml.
func Settings() []Setting {
	return []Setting{
		{
			Key: "listen", Help: "multiaddresses to accept connections on; none only dials",
			get: func(c *Config) string { return strings.Join(c.Listen, ",") },
			set: func(c *Config, v []string) error {
				c.Listen = slices.Clone(v)
				return nil
			},
		},
		boolSetting("discovery.mdns", "find members on the local network", func(c *Config) *bool { return &c.MDNS }),
		boolSetting("gossip", "spread each write at once", func(c *Config) *bool { return &c.Gossip }),
		durationSetting("heartbeat", "interval between comparisons with members", func(c *Config) *time.Duration { return &c.HeartbeatEvery }),
		durationSetting("reconnect.min", "first pause before dialling a member again", func(c *Config) *time.Duration { return &c.ReconnectMin }),
		durationSetting("reconnect.max", "longest pause before dialling a member again", func(c *Config) *time.Duration { return &c.ReconnectMax }),
		{
			Key: "peers.max", Help: "members that this node dials",
			get: func(c *Config) string { return strconv.Itoa(c.PeersMax) },
			set: func(c *Config, v []string) (err error) {
				c.PeersMax, err = parseOne(v, strconv.Atoi, "a number")
				return err
			},
		},
		boolSetting("share.sessions", "share sessions with members where it is true too", func(c *Config) *bool { return &c.ShareSessions }),
		{
			Key: "share.rules", Help: "what stays on this machine, by family and scope; the first rule that matches decides",
			get: func(c *Config) string { return joinRules(c.ShareRules) },
			set: func(c *Config, v []string) (err error) {
				c.ShareRules, err = parseRules(v)
				return err
			},
		},
		{
			Key: "secrets.gate", Help: "what is written here and holds a key or a token: hold keeps it on this machine, warn, or off",
			get: func(c *Config) string { return string(c.SecretsGate) },
			set: func(c *Config, v []string) (err error) {
				c.SecretsGate, err = parseOne(v, func(s string) (state.GateMode, error) { return state.GateMode(s), nil }, "a word")
				return err
			},
		},
		boolSetting("mcp.start", "fleetd mcp starts the daemon when none runs", func(c *Config) *bool { return &c.MCPStart }),
		{
			Key: "api.listen", Help: "loopback address and port for the local API besides its socket, such as 127.0.0.1:7411",
			get: func(c *Config) string { return c.APIListen },
			set: func(c *Config, v []string) (err error) {
				c.APIListen = ""
				if len(v) > 0 {
					c.APIListen, err = parseOne(v, func(s string) (string, error) { return s, nil }, "one address")
				}
				return err
			},
		},
		{
			Key: "store", Help: "engine below the store: badger or memory",
			get: func(c *Config) string { return string(c.StoreKind) },
			set: func(c *Config, v []string) (err error) {
				c.StoreKind, err = parseOne(v, func(s string) (StoreKind, error) { return StoreKind(s), nil }, "a word")
				return err
			},
		},
	}
}

func joinRules(rules []fleetsync.SharingRule) string {
	texts := make([]string, len(rules))
	for i := range rules {
		texts[i] = rules[i].String()
	}
	return strings.Join(texts, ",")
}

func parseRules(texts []string) (rules []fleetsync.SharingRule, err error) {
	for _, text := range texts {
		rule, err := fleetsync.ParseSharingRule(text)
		if err != nil {
			return nil, err
		}
		if rule.Family != "*" && !slices.Contains(fleet.DefaultCapabilities(), rule.Family) {
			// One that is misspelt would share what it should keep.
			return nil, fmt.Errorf("%q: this version knows no family %q, only memory, session and skill; * is every one", text, rule.Family)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func boolSetting(key, help string, field func(*Config) *bool) Setting {
	return Setting{
		Key: key, Help: help,
		get: func(c *Config) string { return strconv.FormatBool(*field(c)) },
		set: func(c *Config, v []string) error {
			b, err := parseOne(v, strconv.ParseBool, "true or false")
			if err == nil {
				*field(c) = b
			}
			return err
		},
	}
}

func durationSetting(key, help string, field func(*Config) *time.Duration) Setting {
	return Setting{
		Key: key, Help: help,
		get: func(c *Config) string { return field(c).String() },
		set: func(c *Config, v []string) error {
			d, err := parseOne(v, time.ParseDuration, "a duration such as 10s")
			if err == nil {
				*field(c) = d
			}
			return err
		},
	}
}

func parseOne[T any](values []string, parse func(string) (T, error), want string) (T, error) {
	var zero T
	if len(values) != 1 {
		return zero, fmt.Errorf("%d values, want %s", len(values), want)
	}
	v, err := parse(values[0])
	if err != nil {
		return zero, fmt.Errorf("%q, want %s", values[0], want)
	}
	return v, nil
}

// Set changes the setting of a key from its text form; a list is written with
// commas, but for those within quotes. It checks the form only, Validate checks
// the value. Errors: ErrConfig, naming the key.
func (c *Config) Set(key, text string) error {
	return c.set(key, splitList(text))
}

// splitList divides a list at its commas, but for those in quotes.
func splitList(text string) (values []string) {
	isQuoted, isEscaped := false, false
	for _, v := range strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' && !isEscaped {
			isQuoted = !isQuoted
		}
		isEscaped = r == '\\' && isQuoted && !isEscaped
		return r == ',' && !isQuoted
	}) {
		if v = strings.TrimSpace(v); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// Get returns the text form of a setting; ok is false for an unknown key.
func (c *Config) Get(key string) (text string, ok bool) {
	for _, s := range Settings() {
		if s.Key == key {
			return s.get(c), true
		}
	}
	return "", false
}

func (c *Config) set(key string, values []string) error {
	for _, s := range Settings() {
		if s.Key != key {
			continue
		}
		if err := s.set(c, values); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrConfig, key, err)
		}
		return nil
	}
	return unknownKey(key)
}

// unknownKey explains the one kind of key that people of other systems expect.
func unknownKey(key string) error {
	folded := strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(key))
	for _, word := range []string{"psk", "swarmkey", "pnet", "privatenetwork", "networkkey", "presharedkey"} {
		if strings.Contains(folded, word) {
			return fmt.Errorf("%w: unknown key %q: there is no private-network key, since QUIC refuses one and it cannot be revoked; only members of the fleet can connect anyway", ErrConfig, key)
		}
	}
	known := make([]string, 0, len(Settings()))
	for _, s := range Settings() {
		known = append(known, s.Key)
	}
	return fmt.Errorf("%w: unknown key %q, known are %s", ErrConfig, key, strings.Join(known, ", "))
}

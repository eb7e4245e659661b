package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// configBytesMax bounds config.yaml before it is parsed, since YAML aliases
// expand.
const configBytesMax = 64 << 10

// ReadConfig returns the default configuration of a data directory changed by
// its config.yaml, when there is one. The environment and flags are for the
// caller, by Config.Set; so is Validate. Errors: ErrConfig, naming the key,
// and those of reading.
func ReadConfig(dir string) (Config, error) {
	cfg := DefaultConfig()
	cfg.Dir = dir
	text, err := os.ReadFile(layout(dir).configFile())
	if errors.Is(err, fs.ErrNotExist) {
		return cfg, nil
	}
	if err != nil {
		return cfg, fmt.Errorf("node: read configuration: %w", err)
	}
	return cfg, cfg.parse(text)
}

// parse applies the text of a configuration file. Errors: ErrConfig.
func (c *Config) parse(text []byte) error {
	if len(text) > configBytesMax {
		return fmt.Errorf("%w: config.yaml of %d bytes, at most %d", ErrConfig, len(text), configBytesMax)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return fmt.Errorf("%w: config.yaml: %s", ErrConfig, yamlTrouble(err))
	}
	return c.apply("", tree)
}

// apply walks one level of the file, in the order of keys so that the first
// error is always the same.
func (c *Config) apply(prefix string, tree map[string]any) error {
	keys := make([]string, 0, len(tree))
	for key := range tree {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := c.applyOne(prefix+key, tree[key]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) applyOne(key string, value any) error {
	isLevel := slices.ContainsFunc(Settings(), func(s Setting) bool { return strings.HasPrefix(s.Key, key+".") })
	switch v := value.(type) {
	case map[string]any:
		if !isLevel {
			return unknownKey(key)
		}
		return c.apply(key+".", v)
	case nil:
		if isLevel {
			return nil
		}
		return c.set(key, nil)
	case []any:
		values := make([]string, 0, len(v))
		for _, item := range v {
			values = append(values, fmt.Sprint(item))
		}
		return c.set(key, values)
	default:
		return c.set(key, []string{fmt.Sprint(v)})
	}
}

// render returns the text of a new configuration file: what was chosen, and
// the other settings as comments.
func (c *Config) render() []byte {
	var b strings.Builder
	b.WriteString("# Configuration of one fleetd instance. The environment (FLEETD_...) and flags\n" +
		"# come before it; an unknown key is an error.\n\nlisten:\n")
	for _, addr := range c.Listen {
		fmt.Fprintf(&b, "  - %s\n", addr)
	}
	if len(c.Listen) == 0 {
		b.WriteString("  []\n")
	}
	fmt.Fprintf(&b, "\nstore: %s\n\n# Defaults of the rest:\n#\n", c.StoreKind)
	level := ""
	for _, s := range Settings() {
		if s.Key == "listen" || s.Key == "store" {
			continue
		}
		above, name, nested := strings.Cut(s.Key, ".")
		if !nested {
			fmt.Fprintf(&b, "# %s: %s  # %s\n", s.Key, s.get(c), s.Help)
			continue
		}
		if above != level {
			fmt.Fprintf(&b, "# %s:\n", above)
			level = above
		}
		fmt.Fprintf(&b, "#   %s: %s  # %s\n", name, s.get(c), s.Help)
	}
	return []byte(b.String())
}

// yamlTrouble is an error of the parser in one line: what is wrong and where. It
// draws the lines of the file around it besides.
func yamlTrouble(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		at := syntax.GetToken().Position
		return fmt.Sprintf("line %d, column %d: %s", at.Line, at.Column, syntax.GetMessage())
	}
	return first
}

package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/node"
)

// runFlags are the flags of fleetd run. Those of the configuration are read as
// text and set by key, so that file, environment and flags obey one rule.
type runFlags struct {
	logLevel  string
	logFormat string
}

// flagKeys maps a flag of fleetd run to the key that it sets.
func flagKeys() map[string]string {
	return map[string]string{
		"listen": "listen", "store": "store", "heartbeat": "heartbeat", "mdns": "discovery.mdns", "gossip": "gossip",
	}
}

func addRunFlags(cmd *cobra.Command) *runFlags {
	flags := &runFlags{}
	set := cmd.Flags()
	set.StringSlice("listen", nil, "addresses to accept connections on, such as /ip4/0.0.0.0/tcp/4001")
	set.String("store", "", "badger or memory: only the kind that the instance was made with (init --store, join --store)")
	set.Duration("heartbeat", 0, "how often to compare with other members (default 10s)")
	set.Bool("mdns", false, "find members on the local network")
	set.Bool("gossip", true, "spread each write at once")
	set.Bool("no-mdns", false, "the same as --mdns=false")
	set.Bool("no-gossip", false, "the same as --gossip=false: only compare, by the heartbeat")
	set.StringVar(&flags.logLevel, "log-level", "info", "debug, info, warn or error (FLEETD_LOG_LEVEL)")
	set.StringVar(&flags.logFormat, "log-format", "text", "text or json (FLEETD_LOG_FORMAT)")
	// These fail for flags that are not there alone.
	_ = cmd.RegisterFlagCompletionFunc("log-level", choice("debug", "info", "warn", "error"))
	_ = cmd.RegisterFlagCompletionFunc("log-format", choice("text", "json"))
	_ = cmd.RegisterFlagCompletionFunc("store", choice("badger", "memory"))
	cmd.MarkFlagsMutuallyExclusive("mdns", "no-mdns")
	cmd.MarkFlagsMutuallyExclusive("gossip", "no-gossip")
	return flags
}

// runConfig returns the configuration: the file, changed by the environment,
// changed by flags.
func (a *app) runConfig(cmd *cobra.Command) (node.Config, error) {
	dir, err := a.dir()
	if err != nil {
		return node.Config{}, err
	}
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		return cfg, err
	}
	if err := a.applyEnvironment(&cfg); err != nil {
		return cfg, err
	}
	flags := cmd.Flags()
	for name, key := range flagKeys() {
		if !flags.Changed(name) {
			continue
		}
		text := flags.Lookup(name).Value.String()
		if list, err := flags.GetStringSlice(name); err == nil {
			text = strings.Join(list, ",")
		}
		if err := cfg.Set(key, text); err != nil {
			return cfg, fmt.Errorf("--%s: %w", name, err)
		}
	}
	for _, name := range []string{"mdns", "gossip"} {
		if off, err := flags.GetBool("no-" + name); err == nil && flags.Changed("no-"+name) {
			if err := cfg.Set(flagKeys()[name], strconv.FormatBool(!off)); err != nil {
				return cfg, err
			}
		}
	}
	return cfg, cfg.Validate()
}

// applyEnvironment sets what the environment says; an empty variable says
// nothing. One with our prefix that means nothing is an error, as an unknown key
// is: it was meant to change something.
func (a *app) applyEnvironment(cfg *node.Config) error {
	keys := map[string]string{}
	known := []string{"FLEETD_DIR", "FLEETD_LOG_LEVEL", "FLEETD_LOG_FORMAT"}
	for _, s := range node.Settings() {
		keys[s.Env()] = s.Key
		known = append(known, s.Env())
	}
	for _, pair := range a.env {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "FLEETD_") || text == "" {
			continue
		}
		if !slices.Contains(known, name) {
			return failed(exitUsage, "known are "+strings.Join(known, ", "), "the environment sets %s, which means nothing", name)
		}
		if key, isSetting := keys[name]; isSetting {
			if err := cfg.Set(key, text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// logs are where the daemon logs: what fleetd has to say, and what the network
// libraries below it have.
type logs struct {
	own     slog.Handler
	network slog.Handler
}

// logs returns handlers that write to standard error in the form and from the
// level that were asked for.
func (a *app) logs(cmd *cobra.Command, flags *runFlags) (logs, error) {
	for _, f := range []struct {
		flag, env string
		value     *string
	}{
		{"log-level", "FLEETD_LOG_LEVEL", &flags.logLevel}, {"log-format", "FLEETD_LOG_FORMAT", &flags.logFormat},
	} {
		if text := a.getenv(f.env); text != "" && !cmd.Flags().Changed(f.flag) {
			*f.value = text
		}
	}
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, known := levels[flags.logLevel]
	if !known {
		return logs{}, usage(fmt.Sprintf("log level %q", flags.logLevel), "debug, info, warn or error")
	}
	var handler func(*slog.HandlerOptions) slog.Handler
	switch flags.logFormat {
	case "text":
		handler = func(opts *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(a.errOut, opts) }
	case "json":
		handler = func(opts *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(a.errOut, opts) }
	default:
		return logs{}, usage(fmt.Sprintf("log format %q", flags.logFormat), "text or json")
	}
	// The libraries log every peer that goes away and every error that they return
	// too, so they are heard by those alone who look for a fault.
	network := slog.DiscardHandler
	if level == slog.LevelDebug {
		network = handler(&slog.HandlerOptions{Level: slog.LevelInfo})
	}
	return logs{handler(&slog.HandlerOptions{Level: level}), network}, nil
}

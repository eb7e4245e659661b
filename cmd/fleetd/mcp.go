package main

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/api/mcp/relay"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
)

func (a *app) mcpCommand() *cobra.Command {
	var opts client.MCPOptions
	var start bool
	cmd := &cobra.Command{
		Use: "mcp", Short: "serve an agent on standard input and output, by the Model Context Protocol", Args: cobra.NoArgs,
		Long: `Carries the Model Context Protocol between an agent, on standard input and output,
and the daemon. Agents start it themselves: docs/mcp.md says how to tell them.
It survives the daemon: when that goes away it waits for it, and goes on.`,
		Example: `  fleetd mcp --read-only
  fleetd mcp --tools memory,skill_search,skill_get`,
	}
	cmd.Flags().StringSliceVar(&opts.Tools, "tools", nil, "only these tools, and groups of tools: memory, file, skill, session, fleet (default all)")
	cmd.Flags().BoolVar(&opts.ReadOnly, "read-only", false, "only tools that write nothing")
	cmd.Flags().BoolVar(&start, "start", false, "start the daemon when none runs (mcp.start in config.yaml)")
	_ = cmd.RegisterFlagCompletionFunc("tools", choice("memory", "file", "skill", "session", "fleet")) // fails for a flag that is not there alone
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		a.output = "" // standard output carries nothing but the protocol
		query := url.Values{"read_only": {strconv.FormatBool(opts.ReadOnly)}}
		if cmd.Flags().Changed("tools") {
			query.Set("tools", strings.Join(opts.Tools, ","))
		}
		if _, err := mcp.ParseOptions(query.Encode()); err != nil {
			return usage("--tools: "+err.Error(), "")
		}
		conn, err := a.dialMCP(ctx, opts)
		if errors.Is(err, client.ErrNotRunning) {
			if conn, err = a.startForMCP(ctx, opts, start, err); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		carried := relay.Relay{
			In: a.in, Out: a.out, ReadOnly: mcp.ReadOnly, LineBytesMax: wire.MCPLineBytesMax,
			Dial: func(ctx context.Context) (io.ReadWriteCloser, error) { return a.dialMCP(ctx, opts) },
			Note: func(text string) { a.note("%s", text) },
		}
		return carried.Run(ctx, conn)
	})
}

// dialMCP begins a session with the daemon. A daemon chooses its socket when it
// starts, so that is looked for each time.
func (a *app) dialMCP(ctx context.Context, opts client.MCPOptions) (io.ReadWriteCloser, error) {
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.MCP(ctx, opts)
}

// startForMCP starts the daemon, when the flag or the configuration says so, and
// begins a session with it. notRunning is the error when neither does.
func (a *app) startForMCP(ctx context.Context, opts client.MCPOptions, start bool, notRunning error) (io.ReadWriteCloser, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	if !node.IsInitialised(dir) {
		return nil, notRunning // there is nothing to start
	}
	cfg, err := node.ReadConfig(dir)
	if err == nil {
		err = a.applyEnvironment(&cfg)
	}
	if err != nil {
		return nil, err
	}
	if !start && !cfg.MCPStart {
		return nil, notRunning
	}
	if err := a.startDaemon(ctx, dir); err != nil {
		return nil, err
	}
	return a.dialMCP(ctx, opts)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

// overMCP measures what an agent waits for a tool: fleetd mcp over standard input
// and output to a daemon that signs and syncs, beside the same over HTTP.
func overMCP(dir string) (rows []row, err error) {
	ctx := context.Background()
	d, err := startDaemon(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.end()) }()
	proxy := exec.Command(d.program, "mcp", "--dir", d.dir)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: proxy}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	c := client.New(filepath.Join(d.dir, "fleetd.sock"))
	defer c.Close()
	tool := func(name string, arguments map[string]any) error {
		result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments})
		if err == nil && result.IsError {
			err = fmt.Errorf("%s: %v", name, result.Content[0])
		}
		return err
	}
	for _, pair := range []struct {
		name       string
		times      int
		http, tool func(i int) error
	}{
		{"memory_write", 1_000, func(i int) error {
			it := item(i)
			_, err := c.WriteMemory(ctx, wire.MemoryWrite{Kind: it.Kind, Content: it.Content})
			return err
		}, func(i int) error {
			it := item(i)
			return tool("memory_write", map[string]any{"kind": it.Kind, "content": it.Content})
		}},
		{"memory_list of the newest ten", 1_000, func(int) error {
			_, err := c.Memories(ctx, client.MemoryQuery{Limit: 10})
			return err
		}, func(int) error { return tool("memory_list", map[string]any{"limit": 10}) }},
		{"memory_recall among 2,000 items, of which none matches", 200, func(int) error {
			_, err := c.Memories(ctx, client.MemoryQuery{Text: "nothing-says-this"})
			return err
		}, func(int) error { return tool("memory_recall", map[string]any{"query": "nothing-says-this"}) }},
	} {
		floor, err := latencies(pair.times, pair.http)
		if err != nil {
			return rows, err
		}
		took, err := latencies(pair.times, pair.tool)
		if err != nil {
			return rows, err
		}
		rows = append(rows, besideFloor(pair.name+" through fleetd mcp", took, "over HTTP", floor)...)
	}
	return rows, nil
}

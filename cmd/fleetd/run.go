package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
)

func (a *app) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "run", Short: "run the daemon in the foreground", Args: cobra.NoArgs,
		Long: `Runs the daemon of the data directory until it is interrupted. Settings come from
config.yaml in the data directory, then from the environment (FLEETD_ and the key,
such as FLEETD_DISCOVERY_MDNS=true), then from flags.`,
	}
	flags := addRunFlags(cmd)
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		cfg, err := a.runConfig(cmd)
		if err != nil {
			return err
		}
		logs, err := a.logs(cmd, flags)
		if err != nil {
			return err
		}
		node.SetNetworkLogs(logs.network)
		cfg.Logger = slog.New(logs.own)
		n, err := node.New(ctx, cfg)
		if err != nil {
			return explainStart(err)
		}
		if cfg.StoreKind == node.StoreMemory {
			a.note("the store is in memory: nothing outlives this process")
		}
		apiAddr, err := cfg.APIAddr()
		if err == nil {
			err = a.serve(ctx, n, apiAddr, cfg.Logger)
		}
		if closed := n.Close(); err == nil || errors.Is(closed, node.ErrNotClosed) {
			err = closed // it says why
		}
		return a.explainServe(explainStart(err))
	})
}

// explainStart adds to an error of starting what to do next.
func explainStart(err error) error {
	next := ""
	switch text := fmt.Sprint(err); {
	case errors.Is(err, node.ErrForeignStore) && strings.Contains(text, "store badger"),
		errors.Is(err, node.ErrForeignStore) && strings.Contains(text, "store memory"):
		next = "leave --store out: an instance keeps the kind of store that it was made with; " +
			"fleetd init --store or fleetd join --store, with another --dir, makes one of the other kind"
	case errors.Is(err, node.ErrListen):
		next = "name a free port on an address of this machine: fleetd run --listen /ip4/0.0.0.0/tcp/4001, or listen in config.yaml"
	default:
		return err
	}
	return &failure{text: plain(err), code: exitError, next: next}
}

// explainServe notes that a daemon which fails later has printed its result.
func (a *app) explainServe(err error) error {
	if err == nil || !a.announced {
		return err
	}
	f := *a.explain(err)
	f.told = true
	return &f
}

// serve runs a node and its local API until ctx ends or one of them fails.
func (a *app) serve(ctx context.Context, n *node.Node, apiAddr netip.AddrPort, log *slog.Logger) error {
	socket, err := node.PrepareSocket(n.Dir(), a.getenv("XDG_RUNTIME_DIR"))
	if err != nil {
		return err
	}
	listener, err := api.Listen(ctx, socket)
	if err != nil {
		return err
	}
	own := prometheus.NewRegistry()
	if err := own.Register(n.Collector()); err != nil {
		return err
	}
	// The network registers with the default one.
	metrics := prometheus.Gatherers{own, prometheus.DefaultGatherer}
	backend := api.ForNode(n)
	agents := mcp.New(backend, mcp.Config{Version: build().Version, Logger: log})
	handler := api.NewHandler(backend, api.Config{Version: build(), MCP: agents, Logger: log, Metrics: metrics})
	web, err := listenWeb(ctx, n.Dir(), apiAddr)
	if err != nil {
		_ = listener.Close() // the first error counts
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return n.Run(ctx) })
	both.Go(func() error { return api.Serve(ctx, listener, handler, log) })
	if web != nil {
		both.Go(func() error { return api.Serve(ctx, web.listener, web.guard.Wrap(handler), log) })
	}
	both.Go(func() error {
		select {
		case <-n.Ready():
			return a.announce(n, socket, web)
		case <-ctx.Done():
			return nil
		}
	})
	return ended(ctx, both.Wait)
}

// stopMax is how long a daemon may take to stop serving: requests that are running
// are given ten seconds, and a store that hangs lets them run for ever.
const stopMax = 20 * time.Second

// errNotStopped is the end of a daemon that does not stop by itself.
var errNotStopped = errors.New("the daemon did not stop within " + stopMax.String() + ": something waits for its store, and gets no answer")

// ended waits for what ends soon after ctx. Errors: errNotStopped, those of wait.
func ended(ctx context.Context, wait func() error) error {
	done := make(chan error, 1)
	go func() { done <- wait() }()
	<-ctx.Done() // the wait ends it, too
	timer := time.NewTimer(stopMax)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errNotStopped
	}
}

// listening is what fleetd run prints once it serves.
type listening struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	Dir           string `json:"dir"`
	Socket        string `json:"socket"`
	// URL is where the API is on loopback, and TokenFile what holds its token; absent
	// when it is on the socket alone.
	URL       string   `json:"url,omitempty"`
	TokenFile string   `json:"token_file,omitempty"`
	Addresses []string `json:"addresses"`
}

func (a *app) announce(n *node.Node, socket string, web *webListener) error {
	addresses, err := n.Addrs()
	if err != nil {
		return nil //nolint:nilerr // it stops already
	}
	l := listening{SchemaVersion: wire.SchemaVersion, ID: n.ID().String(), Dir: n.Dir(), Socket: socket, Addresses: append([]string{}, addresses...)}
	if web != nil {
		l.URL, l.TokenFile = "http://"+web.guard.Addr.String(), node.TokenFile(n.Dir())
	}
	a.announced = true
	return a.print(l, func(w io.Writer) {
		say(w, "running %s", l.ID)
		say(w, "data directory %s", l.Dir)
		say(w, "local API on %s", l.Socket)
		if l.URL != "" {
			say(w, "local API on %s, with the token in %s", l.URL, l.TokenFile)
		}
		for _, address := range l.Addresses {
			say(w, "listening on %s", address)
		}
		if len(l.Addresses) == 0 {
			say(w, "listening nowhere: this node only dials")
		}
	})
}

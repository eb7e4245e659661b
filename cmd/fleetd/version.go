package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
)

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "which build this is", Args: cobra.NoArgs}
	return a.verb(cmd, func(context.Context, []string) error {
		b := build()
		return a.print(b, func(w io.Writer) { say(w, "%s", buildText(b)) })
	})
}

func buildText(b wire.Build) string {
	revision := ""
	if b.Revision != "" {
		revision = " (" + b.Revision + ")"
	}
	return fmt.Sprintf("fleetd %s%s, %s, %s", b.Version, revision, b.Go, b.Platform)
}

// build tells what the Go tool stamped into the program.
func build() wire.Build {
	b := wire.Build{
		SchemaVersion: wire.SchemaVersion, Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

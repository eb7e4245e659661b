package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/node"
)

func (a *app) initCommand() *cobra.Command {
	var cfg node.InitConfig
	cmd := &cobra.Command{
		Use: "init --name NAME", Short: "begin a fleet on this machine", Args: cobra.NoArgs,
		Long: `Begins a fleet: makes its root key, the key of this instance and an empty store
in the data directory, which must not hold an instance yet. Then: fleetd run.`,
	}
	cmd.Flags().StringVar(&cfg.Name, "name", "", "what the fleet calls this machine")
	addFounding(cmd, &cfg.Listen, (*string)(&cfg.StoreKind))
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		if cfg.Name == "" {
			return usage("fleetd init needs --name", "choose what the fleet shall call this machine, such as --name desk")
		}
		var err error
		if cfg.Dir, err = a.dir(); err != nil {
			return err
		}
		made, err := node.Init(ctx, cfg)
		if err != nil {
			return err
		}
		a.warnMemory(cfg.StoreKind)
		return a.showInstance(made, "began a fleet as")
	})
}

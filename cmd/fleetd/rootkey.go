package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
)

// rootReport is the result of the commands of the root key.
type rootReport struct {
	SchemaVersion int    `json:"schema_version"`
	Fleet         string `json:"fleet"`
	File          string `json:"file,omitempty"`
}

// rootTextMax is more than a root key takes.
const rootTextMax = 16 << 10

func (a *app) rootKeyCommand() *cobra.Command {
	return a.group("root", "the root key of the fleet, which decides who belongs", a.rootExport(), a.rootRemove(), a.rootImport())
}

func (a *app) rootExport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "export FILE", Short: "write the root key to a file, to be kept apart from this machine", Args: cobra.ExactArgs(1),
		Long: `Writes the root key of the fleet to a file that nobody else can read, or, for -, to
the standard output. Whoever has it can make admins, and ban everybody: keep it where
a login would be kept, and not on a machine that agents work on.`,
	}
	return a.verb(cmd, func(_ context.Context, args []string) error {
		dir, err := a.dir()
		if err != nil {
			return err
		}
		text, id, err := node.ExportRoot(dir)
		if err != nil {
			return rootTrouble(err)
		}
		if args[0] == "-" {
			_, err := a.out.Write(text)
			return err
		}
		if err := writeNew(args[0], text); err != nil {
			return err
		}
		return a.print(rootReport{wire.SchemaVersion, hex.EncodeToString(id[:]), args[0]}, func(w io.Writer) {
			say(w, "the root key of fleet %x is in %s", id[:8], oneLine(args[0]))
			a.note("fleetd root remove takes it off this machine, once it is kept elsewhere")
		})
	})
}

// writeNew writes a file that was not there, for its owner alone.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if errors.Is(err, os.ErrExist) {
		return failed(exitConflict, "name a file that is not there", "%s is there already", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path) // it is not whole
	}
	return err
}

func (a *app) rootRemove() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove", Short: "take the root key off this machine", Args: cobra.NoArgs,
		Long: `Removes root.key from the data directory. From then on this machine invites and bans
members as an admin, and makes and bans no admins. Export it first: nothing brings a
root key back, and no fleet can have another.`,
	}
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		dir, err := a.dir()
		if err != nil {
			return err
		}
		_, id, err := node.ExportRoot(dir)
		if err != nil {
			return rootTrouble(err)
		}
		if !*yes && !isInteractive(a.in) {
			return usage("nobody is there to be asked", "fleetd root export FILE keeps it, --yes removes it here")
		}
		if !*yes && !a.confirm(ctx, fmt.Sprintf("is the root key of fleet %x kept elsewhere? It is removed from this machine. [y/N] ", id[:8])) {
			return failed(exitError, "nothing was removed", "not confirmed")
		}
		if err := node.RemoveRoot(dir); err != nil {
			return rootTrouble(err)
		}
		return a.print(rootReport{SchemaVersion: wire.SchemaVersion, Fleet: hex.EncodeToString(id[:])}, func(w io.Writer) {
			say(w, "the root key of fleet %x is not on this machine any more", id[:8])
		})
	})
}

func (a *app) rootImport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "bring the root key back to a machine of its fleet", Args: cobra.ExactArgs(1),
		Long: `Reads what fleetd root export wrote, from a file or, for -, from the standard input,
and puts it into the data directory. A daemon that runs uses it at once.`,
	}
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		dir, err := a.dir()
		if err != nil {
			return err
		}
		text, err := a.readText(args[0])
		if err != nil {
			return err
		}
		id, err := a.fleetID(ctx, dir)
		if err != nil {
			return err
		}
		if err := node.ImportRoot(dir, text, id); err != nil {
			return rootTrouble(err)
		}
		return a.print(rootReport{SchemaVersion: wire.SchemaVersion, Fleet: hex.EncodeToString(id[:])}, func(w io.Writer) {
			say(w, "this machine holds the root key of fleet %x", id[:8])
		})
	})
}

func (a *app) readText(path string) ([]byte, error) {
	from := a.in
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // the user names it
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // it was only read
		from = f
	}
	return io.ReadAll(io.LimitReader(from, rootTextMax+1))
}

// fleetID asks the daemon which fleet it belongs to, or looks where none runs.
func (a *app) fleetID(ctx context.Context, dir string) (id merge.FleetID, err error) {
	c, err := a.connect()
	if err != nil {
		return id, err
	}
	defer c.Close()
	status, err := c.Status(ctx)
	if err == nil {
		var raw []byte
		if raw, err = hex.DecodeString(status.Fleet); err == nil && len(raw) == len(id) {
			return merge.FleetID(raw), nil
		}
		return id, fmt.Errorf("the daemon names its fleet %.80q", status.Fleet)
	}
	if !errors.Is(err, client.ErrNotRunning) {
		return id, err
	}
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		return id, err
	}
	n, err := node.New(ctx, cfg)
	if err != nil {
		return id, explainStart(err)
	}
	id = n.Fleet()
	return id, n.Close()
}

// rootTrouble explains what is wrong with a root key.
func rootTrouble(err error) error {
	if errors.Is(err, node.ErrNoRoot) {
		return failed(exitNotFound, "it lies where the fleet began, or where it was exported to: fleetd root import FILE", "%w", err)
	}
	return err
}

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/node"
)

func (a *app) joinCommand() *cobra.Command {
	var cfg node.JoinConfig
	cmd := &cobra.Command{
		Use: "join TICKET", Short: "make this machine a member, with a ticket of fleetd invite", Args: cobra.ExactArgs(1),
		Long: `Makes a new instance in the data directory, which must not hold one, and lets the
machine that made the ticket take it into its fleet. TICKET - reads the ticket
from standard input, which keeps it out of the shell's history. Then: fleetd run.`,
	}
	cmd.Flags().StringVar(&cfg.Name, "name", "", "what the fleet calls this machine, unless the ticket says")
	addFounding(cmd, &cfg.Listen, (*string)(&cfg.StoreKind))
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		ticket, err := a.textArgument(args[0], "a ticket", "copy the one word that fleetd invite printed")
		if err != nil {
			return err
		}
		if cfg.Dir, err = a.dir(); err != nil {
			return err
		}
		cfg.Ticket = strings.TrimSpace(ticket)
		a.progress("asking the fleet...")
		made, err := node.Join(ctx, cfg)
		if err != nil {
			return explainJoin(err, cfg.Ticket)
		}
		a.warnMemory(cfg.StoreKind)
		a.warnClock(made.ClockBehind)
		return a.showInstance(made, "joined as")
	})
}

// explainJoin says in short what stands behind an inviter that does not answer:
// the network library tells of every address and every try.
func explainJoin(err error, text string) error {
	if !errors.Is(err, node.ErrUnreachable) || errors.Is(err, fleet.ErrTicketExpired) || errors.Is(err, fleet.ErrClock) {
		return err
	}
	f := &failure{
		text: "inviter not reached: the machine that made the ticket does not answer", code: exitError,
		next: "start fleetd run there, or ask it for a new ticket with fleetd invite; then repeat",
	}
	ticket, errTicket := fleet.ParseTicket(text)
	if errTicket == nil && len(ticket.Addrs) > 0 {
		f.details = "tried " + strings.Join(ticket.Addrs, ", ") + ": this machine must be able to reach one of them"
	}
	return f
}

// warnClock says that two clocks differ: of two writes at once the one of the
// later clock wins, and beyond five minutes members do not take each other's.
func (a *app) warnClock(behind time.Duration) {
	which := "behind"
	if behind < 0 {
		behind, which = -behind, "ahead of"
	}
	if behind >= hlc.DriftWarn {
		a.note("warning: this machine's clock is %s %s that of the machine that made the ticket: set the one that is wrong", behind.Round(time.Second), which)
	}
}

// warnMemory says at once what an instance without a disk cannot do.
func (a *app) warnMemory(kind node.StoreKind) {
	if kind == node.StoreMemory {
		a.note("warning: with --store memory this instance is good for one fleetd run; when that ends, all that it holds is gone and it cannot start again")
	}
}

// addFounding adds the flags that a new instance keeps in its configuration.
func addFounding(cmd *cobra.Command, listen *[]string, store *string) {
	cmd.Flags().StringSliceVar(listen, "listen", nil, "addresses to keep in config.yaml (default: one free port, TCP and QUIC, all interfaces)")
	cmd.Flags().StringVar(store, "store", "", "badger, or memory: an instance that is good for one run and forgets everything with it (default badger)")
	_ = cmd.RegisterFlagCompletionFunc("store", choice("badger", "memory")) // fails for a flag that is not there alone
}

// progress tells people, and nobody else, that something takes time.
func (a *app) progress(text string) {
	if isTerminal(a.errOut) {
		a.note("%s", text)
	}
}

// instance is the result of init and join.
type instance struct {
	SchemaVersion int      `json:"schema_version"`
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Fleet         string   `json:"fleet"`
	Dir           string   `json:"dir"`
	Listen        []string `json:"listen"`
}

func (a *app) showInstance(made node.Instance, verb string) error {
	i := instance{
		SchemaVersion: wire.SchemaVersion, ID: made.ID.String(), Name: made.Name, Fleet: hex.EncodeToString(made.Fleet[:]),
		Dir: made.Dir, Listen: append([]string{}, made.Listen...),
	}
	return a.print(i, func(w io.Writer) {
		say(w, "%s %s (%s)", verb, oneLine(i.Name), i.ID)
		say(w, "fleet %s", i.Fleet)
		say(w, "data directory %s", i.Dir)
		say(w, "next: fleetd run")
	})
}

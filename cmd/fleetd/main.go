// Command fleetd is a peer-to-peer node that shares what AI agents learn
// between the machines of one fleet.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the next one kills, so that nobody waits for a stop
	// that hangs.
	context.AfterFunc(ctx, stop)
	a := &app{in: os.Stdin, out: newStream(os.Stdout), errOut: newStream(os.Stderr), env: os.Environ()}
	os.Exit(a.execute(ctx, os.Args[1:]))
}

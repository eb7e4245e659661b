package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// Serve answers on the listener until ctx ends, then lets running requests
// finish for a while, and closes the listener. It returns nil after such an
// end, else why serving failed. log may be nil.
func Serve(ctx context.Context, listener net.Listener, h http.Handler, log *slog.Logger) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	// Requests outlive ctx by the stop timeout, so that an acknowledged write is
	// acknowledged to its writer too.
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytesMax,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       withPeer,
		// OPTIONS * has no answer of ours, so it gets the one of unknown paths.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	select {
	case err := <-stopped:
		return fmt.Errorf("api: serve: %w", err)
	case <-ctx.Done():
	}
	grace, release := context.WithTimeout(base, stopTimeout)
	defer release()
	err := server.Shutdown(grace)
	if err != nil {
		cancel()
		err = errors.Join(err, server.Close())
	}
	if served := <-stopped; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("api: stop: %w", err)
	}
	return nil
}

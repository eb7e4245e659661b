package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
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
	var running sync.WaitGroup
	server := &http.Server{
		Handler:           counted(h, &running),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytesMax,
		BaseContext:       func(net.Listener) context.Context { return context.WithValue(base, stopKey{}, ctx.Done()) },
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
	// The server forgets connections that were taken over: those see the end of
	// their context.
	cancel()
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	running.Wait()
	if served := <-stopped; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("api: stop: %w", err)
	}
	return nil
}

// stopKey is the context key of what Stopping returns.
type stopKey struct{}

// Stopping returns, of the context of a request, a channel that is closed when
// Serve begins to stop: what would go on without end has to end then. Outside of
// Serve it is nil.
func Stopping(ctx context.Context) <-chan struct{} {
	stop, _ := ctx.Value(stopKey{}).(<-chan struct{})
	return stop
}

// counted counts the requests that a handler is at work on.
func counted(h http.Handler, running *sync.WaitGroup) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		h.ServeHTTP(w, r)
	})
}

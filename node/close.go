package node

import (
	"errors"
	"fmt"
	"time"
)

const (
	// closeTimeout is how long a store may take to close. A healthy one writes what it
	// has in memory, which takes seconds on a slow disk.
	closeTimeout = time.Minute
	// closeFailedTimeout is that of a store that has failed: its engine may try for
	// ever to write what it cannot.
	closeFailedTimeout = 5 * time.Second
)

// ErrNotClosed is returned by Close when the store did not close in time: its disk
// hangs, or is gone. The process still holds the data directory, and has to end.
var ErrNotClosed = errors.New("node: the store did not close")

// Close ends Run and releases the store and the directory. It is idempotent,
// and whoever calls it finds all of that done when it returns. It takes a minute
// at most, and of a store that has failed five seconds. Errors: ErrNotClosed, those
// of the store.
func (n *Node) Close() error {
	n.closeOnce.Do(func() {
		n.mu.Lock()
		n.closed = true
		started, stop := n.started, n.stop
		n.mu.Unlock()
		ended := make(chan error, 1)
		go func() {
			if started {
				stop()
				<-n.done
			}
			ended <- n.release()
		}()
		n.closeErr = n.awaitClose(ended)
	})
	return n.closeErr
}

// awaitClose waits for the end of closing, as long as is worth it.
func (n *Node) awaitClose(ended <-chan error) error {
	begun := time.Now()
	for _, wait := range []time.Duration{closeFailedTimeout, closeTimeout - closeFailedTimeout} {
		timer := time.NewTimer(wait)
		select {
		case err := <-ended:
			timer.Stop()
			return err
		case <-timer.C:
		}
		if err := n.store.Failing(); err != nil {
			return fmt.Errorf("%w within %s, since it had failed: %w", ErrNotClosed, time.Since(begun).Round(time.Second), err)
		}
	}
	return fmt.Errorf("%w within %s: its disk does not answer", ErrNotClosed, closeTimeout)
}

func (n *Node) release() error {
	var err error
	if n.store != nil {
		err = n.store.Close()
	}
	n.lock.release()
	if err != nil {
		return fmt.Errorf("node: close the store: %w", err)
	}
	return nil
}

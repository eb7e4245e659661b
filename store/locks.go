package store

import (
	"context"
	"sync"
)

// keyLocks is a set of named locks that exist while somebody wants them. The
// zero value is ready.
type keyLocks struct {
	mu    sync.Mutex // guards locks and the counts in them
	locks map[string]*keyLock
}

type keyLock struct {
	token chan struct{} // holds one value while the lock is taken
	users int           // holder and waiters
}

// acquire takes the lock of a name and returns the function that releases it.
// Errors: that of ctx.
func (l *keyLocks) acquire(ctx context.Context, name string) (release func(), err error) {
	l.mu.Lock()
	if l.locks == nil {
		l.locks = map[string]*keyLock{}
	}
	lock := l.locks[name]
	if lock == nil {
		lock = &keyLock{token: make(chan struct{}, 1)}
		l.locks[name] = lock
	}
	lock.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if lock.users--; lock.users == 0 {
			delete(l.locks, name)
		}
	}
	select {
	case lock.token <- struct{}{}:
		return func() { <-lock.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

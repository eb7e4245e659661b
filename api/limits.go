package api

import "time"

// Bounds of one connection and request. A local program is fast or broken.
const (
	headerTimeout = 5 * time.Second
	// readTimeout bounds the arrival of a whole request.
	readTimeout = 30 * time.Second
	// writeTimeout bounds a request with its reply, so it exceeds what any
	// handler waits for.
	writeTimeout = 60 * time.Second
	idleTimeout  = 2 * time.Minute
	// headerBytesMax bounds the head of a request: the longest query, one of
	// words and a scope, is far below.
	headerBytesMax = 64 << 10
	// stopTimeout is how long running requests may take after the stop.
	stopTimeout = 10 * time.Second
	// probeTimeout is how long members may take to answer; one that hangs must
	// not hide for long that the others are equal. A client with less time says
	// so.
	probeTimeout = 5 * time.Second
	// checksTimeout is how long the checks of /readyz may take: a disk that hangs is
	// not ready.
	checksTimeout = 5 * time.Second
	// verifyTimeout is how long proving a store, or comparing with members, may take
	// when a client does not say: a million records take less than a minute.
	verifyTimeout = time.Hour
	// dialTimeout is how long a listener may take to show that it lives.
	dialTimeout = time.Second
	// socketBytesMax is the longest path that every system takes for a socket:
	// 104 bytes on macOS, 108 on Linux, with the zero byte.
	socketBytesMax = 103
)

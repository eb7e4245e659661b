//go:build !linux && !darwin

package store

// freeBytes is not known here: badger's own errors are all there is.
func freeBytes(string) (free uint64, known bool) { return 0, false }

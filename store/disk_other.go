//go:build !linux && !darwin

package store

// FreeBytes is not known here: badger's own errors are all there is.
func FreeBytes(string) (free uint64, known bool) { return 0, false }

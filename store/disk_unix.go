//go:build linux || darwin

package store

import "syscall"

// FreeBytes returns the free space of the file system that holds dir, in bytes;
// known is false where the system does not tell.
func FreeBytes(dir string) (free uint64, known bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}

//go:build linux || darwin

package store

import "syscall"

// freeBytes returns the free space of the file system that holds dir.
func freeBytes(dir string) (free uint64, known bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}

//go:build unix

package node

import (
	"io/fs"
	"syscall"
)

// diskUse is what a file takes of the disk: less than its size where badger has
// reserved room for what is to come.
func diskUse(info fs.FileInfo) int64 {
	if st, is := info.Sys().(*syscall.Stat_t); is {
		return st.Blocks * 512
	}
	return info.Size()
}

//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner and the group of the one whose place it
// takes. Only root can give a file away, and most files have the right owner from
// the start: then there is nothing to do.
func keepOwner(f *os.File, info fs.FileInfo) error {
	was, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	made, err := f.Stat()
	if err != nil {
		return err
	}
	if now, ok := made.Sys().(*syscall.Stat_t); ok && now.Uid == was.Uid && now.Gid == was.Gid {
		return nil
	}
	return f.Chown(int(was.Uid), int(was.Gid))
}

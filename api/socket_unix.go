//go:build !windows

package api

import "io/fs"

func isSocket(info fs.FileInfo) bool { return info.Mode()&fs.ModeSocket != 0 }

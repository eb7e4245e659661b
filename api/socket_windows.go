package api

import "io/fs"

// isSocket takes any empty file for a socket: Windows marks them as reparse
// points, which the standard library reports as irregular, and reports them
// differently from version to version.
func isSocket(info fs.FileInfo) bool { return !info.IsDir() && info.Size() == 0 }

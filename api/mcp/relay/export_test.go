package relay

import "io"

// ErrLineTooLong is errLineTooLong.
var ErrLineTooLong = errLineTooLong

// Lines returns the reader of lines.
func Lines(r io.Reader, bytesMax int) func() ([]byte, error) { return newLineReader(r, bytesMax).next }

package relay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	// lineHeadBytes is how much is kept of a line that is too long: enough to find
	// the id of its message, which most programs write first.
	lineHeadBytes = 4 << 10
	// readBytes is the size of the buffer for reading.
	readBytes = 64 << 10
)

// errLineTooLong is returned with the head of a line that is too long.
var errLineTooLong = errors.New("relay: line too long")

// lineReader reads lines up to a length. It holds no more than one of them.
type lineReader struct {
	r        *bufio.Reader
	bytesMax int
}

func newLineReader(r io.Reader, bytesMax int) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, readBytes), bytesMax}
}

// next returns the next line that is not blank, without its end. The last one
// need not have one. The caller owns it. Errors: errLineTooLong, with the head of
// the line, after which the next line can be read; those of the reader, io.EOF at
// its end.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.read()
		trimmed := bytes.TrimSpace(line)
		switch {
		case errors.Is(err, errLineTooLong):
			return line, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err // what came of a line is of no use
		case len(trimmed) > 0:
			return trimmed, nil // an end of the reader comes again
		case err != nil:
			return nil, err
		}
	}
}

// read returns one line with its end.
func (l *lineReader) read() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case tooLong:
		case len(line)+len(bytes.TrimRight(part, "\r\n")) > l.bytesMax:
			tooLong = true
			line = append(line, part...)
			line = bytes.Clone(line[:min(len(line), lineHeadBytes)])
		default:
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return line, errLineTooLong
		}
		return line, err
	}
}

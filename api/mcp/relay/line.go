package relay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readBytes is the size of the buffer for reading.
const readBytes = 64 << 10

// errLineTooLong is returned with the id in a line that is too long.
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
// need not have one. The caller owns it. Errors: errLineTooLong, with the id of the
// message instead of the line, nil when it has none, after which the next line can
// be read; those of the reader, io.EOF at its end.
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
	var tooLong *idScanner
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case tooLong != nil:
			tooLong.take(part)
		case len(line)+len(bytes.TrimRight(part, "\r\n")) > l.bytesMax:
			tooLong = &idScanner{}
			tooLong.take(line)
			tooLong.take(part)
			line = nil
		default:
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong != nil && (err == nil || errors.Is(err, io.EOF)):
			return tooLong.found(), errLineTooLong
		}
		return line, err
	}
}

package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isPerson reports whether a person sits at a file. The null device, which
// scripts put in the place of one, is as little a terminal as a pipe.
func isPerson(file *os.File) bool {
	return term.IsTerminal(int(file.Fd()))
}

// isTerminal reports whether a person looks at w.
func isTerminal(w io.Writer) bool {
	s, isStream := w.(*stream)
	return isStream && s.isTerminal
}

// isInteractive reports whether a person types what is read.
func isInteractive(r io.Reader) bool {
	file, isFile := r.(*os.File)
	return isFile && isPerson(file)
}

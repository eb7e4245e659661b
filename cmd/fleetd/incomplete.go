package main

import (
	"errors"

	"github.com/fleetsync/fleetd/api/wire"
)

// incompleteOf returns the problem that an error is when it says that the content
// of a record has not come yet; nil for any other.
func incompleteOf(err error) *wire.Problem {
	var problem *wire.Problem
	if errors.As(err, &problem) && problem.Code == wire.CodeIncomplete {
		return problem
	}
	return nil
}

// shownText is what a list shows of a text.
func shownText(text string, incomplete bool) string {
	if incomplete {
		return "(incomplete)"
	}
	return excerpt(text)
}

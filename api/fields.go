package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/api/wire"
)

// fields are the names in an object, in the form of fold, each with whether it
// has a value, be it an empty one: null is none.
type fields map[string]bool

// has reports whether a field has a value.
func (f fields) has(name string) bool { return f[fold(name)] }

// fold makes names equal that encoding/json takes for one.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// depthMax bounds how deep a body is nested; no path takes more than three.
const depthMax = 32

// errNoJSON stops reading what whoever decodes it will refuse.
var errNoJSON = errors.New("api: not JSON")

// readFields returns the fields of the one object that raw is. What
// encoding/json lets pass is refused: something else than an object, and a name
// that stands twice in one, of which it takes the last. Errors: a Problem.
func readFields(raw []byte) (fields, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	token, err := dec.Token()
	if err != nil {
		return nil, nil //nolint:nilerr // the decoder that follows says why
	}
	if token != json.Delim('{') {
		return nil, newProblem(wire.CodeBadRequest, "the body is not the JSON object that this path takes")
	}
	names, err := readObject(dec, 1)
	if errors.Is(err, errNoJSON) {
		err = nil
	}
	return names, err
}

// CheckObject refuses what encoding/json would alter in silence in the object raw:
// text that is not UTF-8, halves of surrogate pairs, and all but the last of
// equal names; and what is no object, or nested too deep. Errors: a *wire.Problem.
func CheckObject(raw []byte) error {
	switch {
	case !utf8.Valid(raw):
		return newProblem(wire.CodeInvalid, "the body is not UTF-8")
	case hasLoneSurrogate(raw):
		return newProblem(wire.CodeInvalid, `the body escapes half of a surrogate pair, such as "\ud800"`)
	}
	_, err := readFields(raw)
	return err
}

// readObject reads the rest of an object.
func readObject(dec *json.Decoder, depth int) (fields, error) {
	names := fields{}
	for dec.More() {
		token, err := dec.Token()
		name, isName := token.(string)
		if err != nil || !isName {
			return names, errNoJSON
		}
		if _, twice := names[fold(name)]; twice {
			return names, newProblem(wire.CodeBadRequest, fmt.Sprintf("the body has the field %.60q twice: nobody can tell which of them counts", name))
		}
		value, err := dec.Token()
		if err != nil {
			return names, errNoJSON
		}
		names[fold(name)] = value != nil
		if err := readRest(dec, value, depth); err != nil {
			return names, err
		}
	}
	return names, readEnd(dec)
}

// readRest reads the rest of the value that a token begins.
func readRest(dec *json.Decoder, token json.Token, depth int) error {
	if _, nests := token.(json.Delim); !nests {
		return nil
	}
	if depth == depthMax {
		return newProblem(wire.CodeBadRequest, fmt.Sprintf("the body is nested more than %d deep", depthMax))
	}
	if token == json.Delim('{') {
		_, err := readObject(dec, depth+1)
		return err
	}
	for dec.More() {
		element, err := dec.Token()
		if err != nil {
			return errNoJSON
		}
		if err := readRest(dec, element, depth+1); err != nil {
			return err
		}
	}
	return readEnd(dec)
}

func readEnd(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return errNoJSON
	}
	return nil
}

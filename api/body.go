package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fleetsync/fleetd/api/wire"
)

// jsonFormat is how bodies are read and written. huma reads one twice: into an
// any, which it holds against the schema, and then into the input. The first
// reading is the strict one.
func jsonFormat() huma.Format {
	return huma.Format{Marshal: writeBody, Unmarshal: readBody}
}

// writeBody writes a body in one line.
func writeBody(w io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("api: encode: %w", err) // no shape of package wire can fail
	}
	// A client that went away is nobody to tell, and huma would panic.
	_, _ = w.Write(append(raw, '\n'))
	return nil
}

func readBody(raw []byte, v any) error {
	if value, first := v.(*any); first {
		read, err := readStrictly(raw)
		*value = read
		return err
	}
	return json.Unmarshal(raw, v)
}

// depthMax bounds how deep a body is nested; no path takes more than three.
const depthMax = 32

var (
	// errNotUTF8 and errSurrogate are refused as invalid text, all other faults of a
	// body as no JSON: huma passes on their texts alone.
	errNotUTF8   = errors.New("the body is not UTF-8")
	errSurrogate = errors.New(`the body escapes half of a surrogate pair, such as "\ud800"`)
)

// readStrictly reads one JSON value. What encoding/json would alter in silence
// is refused, so that text is stored as it was sent: invalid UTF-8, halves of
// surrogate pairs, and all but the last of equal names.
func readStrictly(raw []byte) (any, error) {
	switch {
	case !utf8.Valid(raw):
		return nil, errNotUTF8
	case hasLoneSurrogate(raw):
		return nil, errSurrogate
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	value, err := readValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the body goes on after its JSON object")
	}
	return value, nil
}

// CheckObject refuses what encoding/json would alter in silence in the object raw:
// text that is not UTF-8, halves of surrogate pairs, and all but the last of
// equal names; and what is no object, or nested too deep. Errors: a *wire.Problem.
func CheckObject(raw []byte) error {
	value, err := readStrictly(raw)
	switch _, isObject := value.(map[string]any); {
	case errors.Is(err, errNotUTF8), errors.Is(err, errSurrogate):
		return newProblem(wire.CodeInvalid, err.Error())
	case err != nil:
		return newProblem(wire.CodeBadRequest, err.Error())
	case !isObject:
		return newProblem(wire.CodeBadRequest, notTheObject)
	}
	return nil
}

// readValue reads the next value, which lies within depth others.
func readValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, unfinished(err)
	}
	delim, nests := token.(json.Delim)
	switch {
	case !nests:
		return token, nil
	case depth == depthMax:
		return nil, fmt.Errorf("the body is nested more than %d deep", depthMax)
	case delim == '{':
		return readObject(dec, depth)
	}
	list := []any{}
	for dec.More() {
		element, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	_, err = dec.Token()
	return list, unfinished(err)
}

// readObject reads the rest of an object.
func readObject(dec *json.Decoder, depth int) (any, error) {
	object, names := map[string]any{}, map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, unfinished(err)
		}
		name, _ := token.(string)
		if names[fold(name)] {
			return nil, fmt.Errorf("the body has the field %.60q twice: nobody can tell which of them counts", name)
		}
		names[fold(name)] = true
		if object[name], err = readValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return object, unfinished(err)
}

// fold makes names equal that encoding/json takes for one.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// unfinished says of a body that was cut more than EOF.
func unfinished(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// hasLoneSurrogate reports whether raw escapes a surrogate that is not one of a
// pair. It looks at \u alone, so that raw need not be JSON.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit, isEscape := escapedUnit(raw[i:])
		switch {
		case !isEscape:
			i++ // the escaped character, a backslash included
		case unit < 0xd800 || unit > 0xdfff:
			i += 5
		case unit >= 0xdc00:
			return true
		default:
			low, isEscape := escapedUnit(raw[i+6:])
			if !isEscape || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		}
	}
	return false
}

// escapedUnit reads the escape \uXXXX that b begins with.
func escapedUnit(b []byte) (unit uint64, isEscape bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return unit, err == nil
}

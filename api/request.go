package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/api/wire"
)

// readBody decodes the one JSON object of a request into v, and returns which
// fields it has. What encoding/json would alter in silence is refused, so that
// text is stored as it was sent: invalid UTF-8, halves of surrogate pairs, all
// but the last of equal names, and null for an object.
func readBody(w http.ResponseWriter, r *http.Request, v any) (fields, error) {
	return readBodyMax(w, r, v, wire.RequestBytesMax)
}

// readBodyMax is readBody for a body of another length.
func readBodyMax(w http.ResponseWriter, r *http.Request, v any, bytesMax int64) (fields, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, newProblem(wire.CodeMediaType, "the body must be JSON: send Content-Type: application/json")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bytesMax))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, newProblem(wire.CodeTooLarge, fmt.Sprintf("the request has more than %d bytes", tooLarge.Limit))
	case err != nil:
		return nil, newProblem(wire.CodeBadRequest, "the body did not arrive: "+err.Error())
	case !utf8.Valid(raw):
		return nil, newProblem(wire.CodeInvalid, "the body is not UTF-8")
	case hasLoneSurrogate(raw):
		return nil, newProblem(wire.CodeInvalid, `the body escapes half of a surrogate pair, such as "\ud800"`)
	}
	named, err := readFields(raw)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return nil, newProblem(wire.CodeBadRequest, "the body is not the JSON object that this path takes: "+err.Error())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, newProblem(wire.CodeBadRequest, "the body goes on after its JSON object")
	}
	return named, nil
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

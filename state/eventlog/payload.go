package eventlog

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// payloadDepthMax is how many objects and lists may lie in one another, the
// payload itself counted. RFC 8259 lets an implementation set the limit; this
// one is far beyond any record's, and ends the walk of a payload that holds
// itself.
const payloadDepthMax = 100

// checkPayload returns ErrInvalid, with the place, for a payload that JSON
// cannot hold or would give back as something else. Structs and typed slices are
// among these: they would be read as objects and []any.
func checkPayload(payload map[string]any) error {
	return checkObject("payload", payload, 1)
}

func checkObject(place string, object map[string]any, depth int) error {
	if depth > payloadDepthMax {
		return tooDeep()
	}
	for key, v := range object {
		if !utf8.ValidString(key) {
			return fmt.Errorf("%w: the key %q in %s is not UTF-8", ErrInvalid, key, place)
		}
		if err := checkValue(place+"."+key, v, depth); err != nil {
			return err
		}
	}
	return nil
}

func checkList(place string, list []any, depth int) error {
	if depth > payloadDepthMax {
		return tooDeep()
	}
	for i, v := range list {
		if err := checkValue(place+"["+strconv.Itoa(i)+"]", v, depth); err != nil {
			return err
		}
	}
	return nil
}

// tooDeep names no place: it would be as long as the payload is deep.
func tooDeep() error {
	return fmt.Errorf("%w: the payload is more than %d deep", ErrInvalid, payloadDepthMax)
}

// checkValue checks a value that lies depth deep.
func checkValue(place string, v any, depth int) error {
	switch v := v.(type) {
	case nil, bool, int, int64:
		return nil
	case string:
		return checkText(place, v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: %s is %v, which JSON does not have", ErrInvalid, place, v)
		}
		return nil
	case json.Number:
		if !validNumber(string(v)) {
			return fmt.Errorf("%w: %s is %q, which is no number", ErrInvalid, place, string(v))
		}
		return nil
	case map[string]any:
		return checkObject(place, v, depth+1)
	case []any:
		return checkList(place, v, depth+1)
	default:
		return fmt.Errorf("%w: %s is %T, which no payload holds", ErrInvalid, place, v)
	}
}

// validNumber reports whether s is one number of JSON. Of the valid JSON texts
// those alone begin with a digit or a minus sign and, without white space,
// end with a digit.
func validNumber(s string) bool {
	if s == "" || s[0] != '-' && !digit(s[0]) || !digit(s[len(s)-1]) {
		return false
	}
	return json.Valid([]byte(s))
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

// cloneObject returns a deep copy of a payload that was checked; of nil, an
// empty one.
func cloneObject(object map[string]any) map[string]any {
	clone := make(map[string]any, len(object))
	for key, v := range object {
		clone[key] = cloneValue(v)
	}
	return clone
}

// cloneValue keeps nil objects and lists nil: JSON has null for both.
func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		return cloneObject(v)
	case []any:
		if v == nil {
			return v
		}
		clone := make([]any, len(v))
		for i, element := range v {
			clone[i] = cloneValue(element)
		}
		return clone
	default:
		return v
	}
}

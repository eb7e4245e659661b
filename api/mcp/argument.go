package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// form is what an argument is made of.
type form int

const (
	formText    form = iota
	formNumber       // a whole number from 0, also as text
	formCount        // one from 1
	formFlag         // true or false, also as text
	formTexts        // a list of texts; one text stands for a list of one, or between commas
	formRange        // two whole numbers; the second may be -1
	formScope        // an object of instance, project and workspace, or "global"
	formVersion      // a version token, or the number in front of it
)

// want says what an argument of the form is, for an error.
func (f form) want() string {
	return [...]string{
		"text", "a whole number from 0", "a whole number from 1", "true or false", "a list of texts",
		"two whole numbers, as in [1, 20]", `an object with instance, project and workspace, or "global"`,
		"a version as another tool returned it",
	}[f]
}

// argument is one argument of a tool.
type argument struct {
	name     string
	form     form
	required bool
	// about is for the model.
	about string
	// options are the texts that it takes; none means any.
	options []string
}

// values are the arguments of one call, by the names of the tool.
type values map[string]any

func (v values) has(name string) bool { _, given := v[name]; return given }

func (v values) text(name string) string {
	text, _ := v[name].(string)
	return text
}

// number returns a number, or what is meant when it was not given.
func (v values) number(name string, otherwise int) int {
	if n, given := v[name].(int); given {
		return n
	}
	return otherwise
}

func (v values) flag(name string) bool {
	flag, _ := v[name].(bool)
	return flag
}

func (v values) texts(name string) []string {
	texts, _ := v[name].([]string)
	return texts
}

// decode reads the arguments of a call: names that models guess are taken for
// those that the tool has (see aliases), null is not given. An argument that the
// tool does not know is an error, since a misspelt filter would widen what it
// filters. Errors: a *wire.Problem.
func decode(tool string, args []argument, raw json.RawMessage) (values, error) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		raw = json.RawMessage("{}")
	}
	if err := api.CheckObject(raw); err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, api.NewProblem(wire.CodeBadRequest, "the arguments are not one JSON object: "+err.Error())
	}
	names := namesOf(args)
	read, from := values{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if string(given[name]) == "null" {
			continue
		}
		i, known := names[fold(name)]
		if !known {
			return nil, api.NewProblem(wire.CodeBadRequest, fmt.Sprintf("unknown argument %.60q; %s takes: %s", name, tool, listNames(args)))
		}
		a := &args[i]
		if other, twice := from[a.name]; twice {
			return nil, api.NewProblem(wire.CodeBadRequest, fmt.Sprintf("%.60q and %.60q are one argument, %s: give one of them", other, name, a.name))
		}
		value, err := a.read(given[name])
		if err != nil {
			return nil, err
		}
		read[a.name], from[a.name] = value, name
	}
	for _, a := range args {
		if a.required && !read.has(a.name) {
			return nil, api.NewProblem(wire.CodeBadRequest, fmt.Sprintf("the argument %s is missing; %s takes: %s", a.name, tool, listNames(args)))
		}
	}
	return read, nil
}

func listNames(args []argument) string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// read returns the value of an argument. Errors: a *wire.Problem.
func (a *argument) read(raw json.RawMessage) (any, error) {
	var any any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&any); err != nil {
		return nil, a.wrong(raw)
	}
	value, ok := a.form.read(any)
	if !ok {
		return nil, a.wrong(raw)
	}
	if text, isText := value.(string); isText && len(a.options) > 0 && !slices.Contains(a.options, text) {
		return nil, api.NewProblem(wire.CodeBadRequest, fmt.Sprintf("argument %s is %.60q, not one of %s", a.name, text, strings.Join(a.options, ", ")))
	}
	return value, nil
}

func (a *argument) wrong(raw json.RawMessage) error {
	return api.NewProblem(wire.CodeBadRequest, fmt.Sprintf("argument %s is %.60s, not %s", a.name, raw, a.form.want()))
}

// read turns what JSON has into the value of a form.
func (f form) read(v any) (value any, ok bool) {
	switch f {
	case formNumber:
		n, ok := wholeNumber(v)
		return n, ok && n >= 0
	case formCount:
		n, ok := wholeNumber(v)
		return n, ok && n >= 1
	case formFlag:
		return readFlag(v)
	case formTexts:
		return readTexts(v)
	case formRange:
		return readRange(v)
	case formScope:
		return readScope(v)
	case formVersion:
		if n, isNumber := wholeNumber(v); isNumber {
			return strconv.Itoa(n), true
		}
	case formText:
	}
	text, isText := v.(string)
	return text, isText
}

// wholeNumber reads 5, 5.0 and "5".
func wholeNumber(v any) (int, bool) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	default:
		return 0, false
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	const exactMax = 1 << 53
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exactMax {
		return 0, false
	}
	return int(f), true
}

// readFlag reads true and false, and the words for them that models use.
func readFlag(v any) (flag any, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case json.Number, string:
		switch strings.ToLower(strings.TrimSpace(fmt.Sprint(v))) {
		case "true", "yes", "1", "won", "win", "success", "succeeded", "worked", "pass", "passed":
			return true, true
		case "false", "no", "0", "lost", "loss", "failure", "fail", "failed":
			return false, true
		}
	}
	return nil, false
}

func readTexts(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		texts := []string{}
		for text := range strings.SplitSeq(v, ",") {
			if text = strings.TrimSpace(text); text != "" {
				texts = append(texts, text)
			}
		}
		return texts, true
	case []any:
		texts := make([]string, 0, len(v))
		for _, element := range v {
			text, isText := element.(string)
			if !isText {
				return nil, false
			}
			texts = append(texts, text)
		}
		return texts, true
	}
	return nil, false
}

// readRange reads two numbers, also as a text of JSON.
func readRange(v any) (any, bool) {
	if text, isText := v.(string); isText {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			return nil, false
		}
	}
	list, isList := v.([]any)
	if !isList || len(list) != 2 {
		return nil, false
	}
	first, ok1 := wholeNumber(list[0])
	last, ok2 := wholeNumber(list[1])
	return [2]int{first, last}, ok1 && ok2
}

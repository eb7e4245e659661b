package simulation

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one field of a plan, of its weather or of a step: how the text form
// names it, where it is, and what it may be. Reading, writing and validating
// all go by it, so what a list of settings has, the text form has.
type setting struct {
	name string
	// value points to a bool, an int, an int64, a uint64, a float64, a Duration, a
	// string, a []int, a group, or to the number of one of names.
	value any
	names []string
	// low and high are what numbers may be, durations in nanoseconds.
	low, high float64
	// orZero says that 0, which leaves a default, is no number to be held to that.
	orZero bool
	// always says that zero is written too, since it reads better.
	always bool
}

// group is a set of replicas, one bit each.
type group uint64

// within sets what numbers may be.
func (s setting) within(low, high float64) setting {
	s.low, s.high = low, high
	return s
}

// lasting sets what a duration may be.
func (s setting) lasting(low, high time.Duration) setting {
	return s.within(float64(low), float64(high))
}

func (s setting) orDefault() setting {
	s.orZero = true
	return s
}

func (s setting) written() setting {
	s.always = true
	return s
}

// set takes the value of another plan's setting of the same name.
func (s *setting) set(other *setting) {
	reflect.ValueOf(s.value).Elem().Set(reflect.ValueOf(other.value).Elem())
}

// text is the value as the text form has it, without any space.
func (s *setting) text() string {
	switch v := s.value.(type) {
	case *bool:
		if *v {
			return "on"
		}
		return "off"
	case *int:
		return strconv.Itoa(*v)
	case *int64:
		return strconv.FormatInt(*v, 10)
	case *uint64:
		return strconv.FormatUint(*v, 10)
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case *time.Duration:
		return v.String()
	case *string:
		return *v
	case *uint8:
		return s.names[*v]
	case *[]int:
		return joined(*v)
	case *group:
		var members []int
		for rest := uint64(*v); rest != 0; rest &= rest - 1 {
			members = append(members, bits.TrailingZeros64(rest))
		}
		return joined(members)
	}
	panic(fmt.Sprintf("simulation: setting %s is a %T", s.name, s.value))
}

func joined(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// zero reports whether the setting has the value that it has when a text does
// not mention it.
func (s *setting) zero() bool {
	switch v := s.value.(type) {
	case *bool:
		return !*v
	case *string:
		return *v == ""
	case *uint8:
		return *v == 0
	case *[]int:
		return len(*v) == 0
	case *group:
		return *v == 0
	}
	return s.text() == "0" || s.text() == "0s"
}

// parse sets the value from its text; what it may be is for check.
func (s *setting) parse(text string) error {
	var err error
	switch v := s.value.(type) {
	case *bool:
		if *v = text == "on"; !*v && text != "off" {
			err = errors.New("it is on or off")
		}
	case *int:
		*v, err = strconv.Atoi(text)
	case *int64:
		*v, err = strconv.ParseInt(text, 10, 64)
	case *uint64:
		*v, err = strconv.ParseUint(text, 10, 64)
	case *float64:
		*v, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		*v, err = time.ParseDuration(text)
	case *string:
		*v = text
	case *uint8:
		n := slices.Index(s.names, text)
		*v = uint8(max(n, 0))
		if n < 0 {
			err = fmt.Errorf("it is one of %s", strings.Join(s.names, ", "))
		}
	case *[]int:
		*v, err = split(text)
	case *group:
		*v, err = groupOf(text)
	}
	return err
}

func groupOf(text string) (g group, err error) {
	members, err := split(text)
	for _, n := range members {
		if n < 0 || n >= 64 {
			return 0, fmt.Errorf("a group has no place for %d", n)
		}
		g |= 1 << n
	}
	return g, err
}

func split(text string) (numbers []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil, errors.New("it is a list of numbers, as 0,2,5")
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// check holds the value to what it may be.
func (s *setting) check() error {
	switch v := s.value.(type) {
	case *bool, *uint64:
		return nil
	case *uint8:
		if int(*v) >= len(s.names) {
			return fmt.Errorf("%s is %d, of %d", s.name, *v, len(s.names))
		}
		return nil
	case *string:
		if strings.ContainsFunc(*v, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '/' }) {
			return fmt.Errorf("%s is %.60q: it has lower-case letters, digits, - and / alone", s.name, *v)
		}
		return nil
	}
	for _, n := range s.numbers() {
		if err := s.bound(n); err != nil {
			return err
		}
	}
	return nil
}

// numbers returns the value, of a list every element, of a group the last.
func (s *setting) numbers() (numbers []float64) {
	switch v := s.value.(type) {
	case *int:
		return []float64{float64(*v)}
	case *int64:
		return []float64{float64(*v)}
	case *float64:
		return []float64{*v}
	case *time.Duration:
		return []float64{float64(*v)}
	case *[]int:
		for _, n := range *v {
			numbers = append(numbers, float64(n))
		}
	case *group:
		if *v != 0 {
			numbers = append(numbers, float64(bits.Len64(uint64(*v))-1))
		}
	}
	return numbers
}

// bound is false for what is not a number.
func (s *setting) bound(v float64) error {
	if v >= s.low && v <= s.high || s.orZero && v == 0 {
		return nil
	}
	if _, lasts := s.value.(*time.Duration); lasts {
		return fmt.Errorf("%s is %s, not within %s to %s", s.name, time.Duration(v), time.Duration(s.low), time.Duration(s.high))
	}
	if s.orZero {
		return fmt.Errorf("%s is %g, neither 0 nor within %g to %g", s.name, v, s.low, s.high)
	}
	return fmt.Errorf("%s is %g, not within %g to %g", s.name, v, s.low, s.high)
}

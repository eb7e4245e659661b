package scenario

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// The texts that say what a value looks like.
const (
	wantDuration  = "a duration such as 30d, 4h, 90s or 1d12h"
	wantRate      = "a rate such as 5/h or 2/d, or 0"
	wantSize      = "a size such as 300B or 16KiB"
	wantShare     = "a share such as 5% or 0.5%"
	wantBandwidth = "a bandwidth such as 10Mbit/s or 64KiB/s"
	wantSpan      = "a part of the day such as 22:00..07:00"
)

var errForm = errors.New("form")

// units of durations, longest name first where one begins another.
var durationUnits = []struct {
	name string
	is   time.Duration
}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", day}, {"w", 7 * day}}

var durationPart = regexp.MustCompile(`^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)`)

// parseDuration reads numbers with units, one after the other.
func parseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	var sum float64
	for rest := text; ; {
		part := durationPart.FindStringSubmatch(rest)
		if part == nil {
			return 0, errForm
		}
		number, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, errForm
		}
		for _, u := range durationUnits {
			if u.name == part[2] {
				sum += number * float64(u.is)
			}
		}
		if rest = rest[len(part[0]):]; rest == "" {
			break
		}
	}
	if sum > float64(math.MaxInt64/2) {
		return 0, errForm
	}
	return time.Duration(math.Round(sum)), nil
}

// parseRate reads how often a thing happens an hour.
func parseRate(text string) (float64, error) {
	if text == "0" {
		return 0, nil
	}
	number, per, found := strings.Cut(text, "/")
	n, err := parseNumber(number)
	if !found || err != nil {
		return 0, errForm
	}
	hours, known := map[string]float64{"s": 1.0 / 3600, "m": 1.0 / 60, "h": 1, "d": 24, "w": 168}[per]
	if !known {
		return 0, errForm
	}
	return n / hours, nil
}

// parseNumber reads digits, with or without a fraction: no sign, exponent or
// name of what is no number.
func parseNumber(text string) (float64, error) {
	if strings.Trim(text, "0123456789.") != "" {
		return 0, errForm
	}
	return strconv.ParseFloat(text, 64)
}

// parseSize reads a number of bytes.
func parseSize(text string) (int, error) {
	number := strings.TrimRight(text, "KMiB")
	factor, known := map[string]int{"": 1, "B": 1, "KB": 1000, "KiB": 1 << 10, "MB": 1_000_000, "MiB": 1 << 20}[text[len(number):]]
	n, err := parseNumber(number)
	if !known || err != nil || n*float64(factor) > math.MaxInt32 {
		return 0, errForm
	}
	return int(n * float64(factor)), nil
}

// parseBandwidth reads bytes a second. What is too little is refused here, in the
// unit that was chosen: rounded down it might be 0, which has no bound.
func parseBandwidth(text string) (int64, error) {
	per, found := strings.CutSuffix(text, "/s")
	if !found {
		return 0, errForm
	}
	for _, unit := range []struct {
		name  string
		bytes float64
	}{{"kbit", 125}, {"Mbit", 125_000}, {"Gbit", 125_000_000}, {"bit", 0.125}} {
		if number, found := strings.CutSuffix(per, unit.name); found {
			n, err := parseNumber(number)
			if err != nil || n*unit.bytes > math.MaxInt32*8 {
				return 0, errForm
			}
			if n*unit.bytes < bandwidthMin {
				return 0, fmt.Errorf("too little, want %g%s/s or more", bandwidthMin/unit.bytes, unit.name)
			}
			return int64(n * unit.bytes), nil
		}
	}
	n, err := parseSize(per)
	if err == nil && n < bandwidthMin {
		return 0, errors.New("too little, want 1KiB/s or more")
	}
	return int64(n), err
}

// parseShare reads a percentage as a number from 0 to 1.
func parseShare(text string) (float64, error) {
	if text == "0" {
		return 0, nil
	}
	number, found := strings.CutSuffix(text, "%")
	n, err := parseNumber(number)
	if !found || err != nil {
		return 0, errForm
	}
	return n / 100, nil
}

// parseRange returns a reader of "low..high", or of one value for both.
func parseRange[T int | time.Duration](parse func(string) (T, error)) func(string) (Range[T], error) {
	return func(text string) (Range[T], error) {
		low, high, found := strings.Cut(text, "..")
		if !found {
			high = low
		}
		first, err := parse(low)
		last, errLast := parse(high)
		if err != nil || errLast != nil {
			return Range[T]{}, errForm
		}
		if first > last {
			return Range[T]{}, fmt.Errorf("%.60s is more than %.60s", low, high)
		}
		return Range[T]{first, last}, nil
	}
}

// parseSpan reads a part of the day; it may go over midnight.
func parseSpan(text string) (Range[time.Duration], error) {
	from, to, found := strings.Cut(text, "..")
	first, err := parseClock(from)
	last, errLast := parseClock(to)
	if !found || err != nil || errLast != nil {
		return Range[time.Duration]{}, errForm
	}
	if first == last {
		return Range[time.Duration]{}, errors.New("it is empty: leave it out for a day without quiet")
	}
	return Range[time.Duration]{first, last}, nil
}

func parseClock(text string) (time.Duration, error) {
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0, errForm
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// parseZone reads what a clock is ahead of UTC, with its sign.
func parseZone(text string) (time.Duration, error) {
	sign := time.Duration(1)
	rest, west := strings.CutPrefix(text, "-")
	if west {
		sign = -1
	}
	d, err := parseDuration(strings.TrimPrefix(rest, "+"))
	return sign * d, err
}

func parseText(text string) (string, error) { return text, nil }

func parseBool(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errForm
	}
	return text == "true", nil
}

func parseSeed(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }

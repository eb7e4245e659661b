package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fleetd": main})
}

// TestScripts runs testdata/script with real daemons on this machine. Besides
// the commands of testscript the scripts have:
//
//	exits CODE PROGRAM ARG...   run it and compare the exit code
//	asks STATUS FILE PATH TOKEN   GET over loopback where FILE, of fleetd run, says; TOKEN is a file or -
//	needdaemon ARGS...          fleetd with each of these arguments exits 3
//	value NAME FILE PATH        set a variable to a value in JSON
//	holds FILE PATH REGEXP      a value in JSON matches wholly
//	shape FILE WANT             the fields of a JSON are exactly those listed
//	carries STORE STORE         merge the records of the first into the second, without content
//	losesrow STORE ID           remove the version row of a memory item from a store on the disk
//	skills DIR N                make N skill folders, as varied as people's
//	stopdaemon DIR              interrupt the daemon of a data directory, and wait for its end
//	sameskills DIR EVERY        the daemon holds just these, each EVERY-th compared by text
//
// FILE may be stdout. PATH is names and numbers between dots, and length.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts send Unix signals and use a Unix shell")
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		// Under the race detector every command would wait a second before it ends.
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			repository, err := filepath.Abs(filepath.Join("..", ".."))
			env.Setenv("REPOSITORY", repository)
			env.Defer(func() { stopStarted(t, env.WorkDir) })
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"losesrow": losesRow, "asks": asks, "carries": carries, "stopdaemon": stopDaemon,
			"exits": exits, "needdaemon": needDaemon, "value": value, "holds": holds, "shape": shape, "skills": makeSkills, "sameskills": sameSkills,
		},
	})
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// asks sends GET to a daemon over loopback, with the token of a file or of none
// (-), and prints the answer: asks STATUS FILE.json PATH TOKENFILE.
func asks(ts *testscript.TestScript, _ bool, args []string) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, lookup(ts, args[1], "url")+args[2], http.NoBody)
	ts.Check(err)
	if args[3] != "-" {
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(args[3])))
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	ts.Check(err)
	body, err := io.ReadAll(response.Body)
	ts.Check(errors.Join(err, response.Body.Close()))
	if strconv.Itoa(response.StatusCode) != args[0] {
		ts.Fatalf("status %d, want %s: %s", response.StatusCode, args[0], body)
	}
	_, err = ts.Stdout().Write(body)
	ts.Check(err)
}

func needDaemon(ts *testscript.TestScript, _ bool, args []string) {
	for _, line := range args {
		exits(ts, false, append([]string{"3", "fleetd"}, strings.Fields(line)...))
	}
}

func value(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], lookup(ts, args[1], args[2]))
}

func holds(ts *testscript.TestScript, neg bool, args []string) {
	got := lookup(ts, args[0], args[1])
	matches, err := regexp.MatchString("^(?:"+args[2]+")$", got)
	ts.Check(err)
	if matches == neg {
		ts.Fatalf("%s of %s is %q, match with %q: %t", args[1], args[0], got, args[2], matches)
	}
}

// lookup returns a value of a JSON file as text.
func lookup(ts *testscript.TestScript, file, path string) string {
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &at))
	for name := range strings.SplitSeq(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			field, known := v[name]
			if !known {
				ts.Fatalf("%s: no %s of %s", file, name, path)
			}
			at = field
		case []any:
			if name == "length" {
				at = len(v)
				continue
			}
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: no %s of %s in %d elements", file, name, path, len(v))
			}
			at = v[i]
		default:
			ts.Fatalf("%s: %s of %s is of a %T", file, name, path, at)
		}
	}
	return fmt.Sprint(at)
}

// shape compares the fields of a JSON, each with its type, with a golden list.
func shape(ts *testscript.TestScript, _ bool, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	fields := map[string]bool{}
	collect(fields, "", v)
	got := slices.Sorted(maps.Keys(fields))
	want := slices.Sorted(strings.SplitSeq(strings.TrimSpace(ts.ReadFile(args[1])), "\n"))
	if !slices.Equal(got, want) {
		ts.Fatalf("%s has these fields:\n%s\nwant those of %s:\n%s", args[0], strings.Join(got, "\n"), args[1], strings.Join(want, "\n"))
	}
}

func collect(fields map[string]bool, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			fields[path+" object"] = true
		}
		for name, field := range v {
			collect(fields, strings.TrimPrefix(path+"."+name, "."), field)
		}
	case []any:
		if len(v) == 0 {
			fields[path+"[]"] = true
		}
		for _, element := range v {
			collect(fields, path+"[]", element)
		}
	case string:
		fields[path+" string"] = true
	case float64:
		fields[path+" number"] = true
	case bool:
		fields[path+" bool"] = true
	case nil:
		fields[path+" null"] = true
	}
}

// TestTranscriptsAreTheScripts holds that what a page tells people to type is what
// the scripts about it run, in that order.
func TestTranscriptsAreTheScripts(t *testing.T) {
	for page, scripts := range map[string][]string{
		"README.md":               {"readme.txtar", "readme_simulate.txtar"},
		"docs/getting-started.md": {"getting_started.txtar"},
	} {
		t.Run(page, func(t *testing.T) { comparePage(t, page, scripts) })
	}
}

func comparePage(t *testing.T, page string, scripts []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	var told, run []string
	for line := range strings.Lines(string(text)) {
		if _, command, isPrompt := strings.Cut(strings.TrimSpace(line), "$ "); isPrompt && !strings.HasPrefix(command, "export ") {
			command, _, _ = strings.Cut(command, "  #")
			told = append(told, strings.TrimSpace(command))
		}
	}
	for _, script := range scripts {
		run = append(run, shown(t, filepath.Join("testdata", "script", script))...)
	}
	if !slices.Equal(told, run) {
		t.Errorf("the page tells\n%s\nthe scripts run\n%s", strings.Join(told, "\n"), strings.Join(run, "\n"))
	}
}

// shown returns the commands that a script says are shown, each of which the
// line below it must run.
func shown(t *testing.T, path string) (commands []string) {
	t.Helper()
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(script), "\n")
	background := regexp.MustCompile(` &\w+&$`)
	for i, line := range lines {
		_, command, isShown := strings.Cut(line, "# shown: ")
		if !isShown {
			continue
		}
		commands = append(commands, command)
		does := strings.TrimPrefix(strings.TrimPrefix(background.ReplaceAllString(lines[i+1], ""), "! "), "exec ")
		if want := strings.NewReplacer("TICKET", "-", `"`, "'").Replace(command); does != want {
			t.Errorf("%s: line %d shows %q and runs %q", path, i+1, want, does)
		}
	}
	return commands
}

package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
	"github.com/fleetsync/fleetd/simulation/report"
)

// Tests of this folder run few seeds of their own; the flag is that of the
// tests of package simulation, which run together with these.
var _ = flag.Int("seeds", 0, "without effect here")

var update = flag.Bool("update", false, "write the golden page anew")

// small is one of everything that a page shows.
func small() report.Data {
	const ms = time.Millisecond
	return report.Data{
		Command:  "fleetd simulate --seeds 2 --report page.html",
		Figures:  []report.Fact{{Name: "writes", Value: "1,113, everywhere after 280ms (half)"}},
		Machines: []string{"office 1", "office 2", "home <&>"},
		Campaign: &campaign.Result{
			Seeds: 2, Repeated: 1, NodeHours: 1.5, Asleep: 1234,
			Coverage: &simulation.Coverage{
				Faults:  map[simulation.Fault]int{simulation.FaultLoss: 1200, simulation.FaultCrash: 3},
				Markers: map[simulation.Marker]int{simulation.SometimesFeed: 7},
			},
			Failures: []campaign.Failure{{
				Seed: 9, Invariant: simulation.InvariantLiveness,
				Err: errors.New("replica 1 lacks <b>skill/a</b> & more\nand a second line"),
			}},
			Convergence: campaign.Quantiles{P50: 500 * ms, P99: 9 * time.Second, Max: 11 * time.Second},
			TracesHash:  "c0ffee",
		},
		Run: &report.Run{
			Title: "seed 9: 3 replicas", Replicas: 3, Length: 3 * time.Second, Failure: "replica 1 is wrong", TraceSum: "beef",
			Samples: []report.Sample{{0, 0, 0}, {time.Second, 2, 2}, {2 * time.Second, 0, 4}},
			Spans: []report.Span{
				{Kind: "partition", Who: "replicas 0 and the others", From: 500 * ms, To: 1500 * ms},
				{Kind: "down", Who: "replica 2", From: time.Second, To: 2 * time.Second},
			},
			Marks: []report.Mark{
				{At: 2 * time.Second, Kind: simulation.EventHeal, Text: "all faults end"},
				{At: 2500 * ms, Kind: simulation.EventViolation, Text: "I12 liveness"},
			},
			TrafficEvery: time.Second,
			Traffic: []report.Bucket{
				{simulation.RouteGossip: {Messages: 2, Bytes: 600}, simulation.RouteHeartbeat: {Messages: 1, Bytes: 80}},
				{},
				{simulation.RouteFeed: {Messages: 4, Bytes: 2048}},
			},
			Propagation: simulation.Propagation{Writes: 2, Times: []time.Duration{40 * ms}},
			Window: report.Window{
				From: 900 * ms, To: 2 * time.Second, Why: "from the write of skill/a on replica 0 until every present member held it",
				Down: []int{2}, Away: []int{1},
				Messages: []report.Message{
					{Route: simulation.RouteHeartbeat, Name: "heartbeat", From: 1, To: 0, Bytes: 80, Sent: 880 * ms, Arrived: 905 * ms},
					{Route: simulation.RouteGossip, Name: "gossip", From: 0, To: 1, Bytes: 300, Sent: 901 * ms, Arrived: 930 * ms},
					{Route: simulation.RouteGossip, Name: "gossip", From: 0, To: 2, Bytes: 300, Sent: 901 * ms, Arrived: 901 * ms, Lost: simulation.FaultUnsent},
					{Route: simulation.RouteFeed, Name: "changes page", From: 0, To: 2, Bytes: 900, Sent: 1900 * ms, Arrived: 1990 * ms},
				},
				Points: []report.Point{
					{At: 900 * ms, Kind: simulation.EventWrite, Replica: 0, Peer: simulation.Nobody, Text: "writes skill/a"},
					{At: 931 * ms, Kind: simulation.EventCommit, Replica: 1, Peer: simulation.Nobody, Text: "takes in 1 version by gossip"},
					{At: 1500 * ms, Kind: simulation.EventFaultEnd, Replica: simulation.Nobody, Peer: simulation.Nobody, Text: "partition ends"},
					{At: 1600 * ms, Kind: simulation.EventReturn, Replica: 1, Peer: simulation.Nobody, Text: "is back"},
					{At: 1700 * ms, Kind: simulation.EventStart, Replica: 2, Peer: simulation.Nobody, Text: "starts"},
					{At: 1800 * ms, Kind: simulation.EventConnect, Replica: 0, Peer: 2, Text: "connection begins"},
					{At: 2000 * ms, Kind: simulation.EventStop, Replica: 1, Peer: simulation.Nobody, Text: "dies"},
				},
			},
		},
		Sweep: &report.Sweep{Cells: []report.Cell{
			{Gossip: true, Replicas: 3, Loss: 0, Times: []time.Duration{50 * ms, 60 * ms, 70 * ms}},
			{Gossip: true, Replicas: 10, Loss: 0, Times: []time.Duration{70 * ms, 75 * ms, 80 * ms}},
			{Gossip: true, Replicas: 3, Loss: 0.2, Times: []time.Duration{80 * ms}, Unfinished: 2},
			{Gossip: true, Replicas: 10, Loss: 0.2, Unfinished: 3},
			{Gossip: false, Replicas: 3, Loss: 0, Times: []time.Duration{10 * time.Second}},
		}},
	}
}

func write(t *testing.T, d report.Data) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldenPage(t *testing.T) {
	const golden = "testdata/small.html"
	got := write(t, small())
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil { //nolint:gosec // everybody may read it
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the page has changed; look at it, then go test ./simulation/report -update:\n%s", diff)
	}
}

// examine holds a page to what every page promises: it is well-formed, needs
// nothing from anywhere and no script, and its references within are there.
func examine(t *testing.T, page []byte) (text string) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(page))
	decoder.Entity = xml.HTMLEntity
	in := references{t: t, ids: map[string]bool{}}
	var words strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.CharData:
			words.Write(token)
		case xml.StartElement:
			in.see(token)
		}
	}
	for _, id := range in.wanted {
		if !in.ids[id] {
			t.Errorf("nothing has the id %s", id)
		}
	}
	for _, foreign := range []string{"http:", "https:", "@import", "url(h", "NaN", "Inf"} {
		if bytes.Contains(page, []byte(foreign)) {
			t.Errorf("the page contains %s", foreign)
		}
	}
	return words.String()
}

// references are the ids of a page, and those that it refers to.
type references struct {
	t      *testing.T
	ids    map[string]bool
	wanted []string
}

func (r *references) see(e xml.StartElement) {
	if slices.Contains([]string{"script", "link", "img", "iframe", "object", "image", "use", "a"}, e.Name.Local) {
		r.t.Errorf("the page has an element %s", e.Name.Local)
	}
	for _, a := range e.Attr {
		switch a.Name.Local {
		case "id":
			if r.ids[a.Value] {
				r.t.Errorf("the id %s stands twice", a.Value)
			}
			r.ids[a.Value] = true
		case "aria-labelledby":
			r.wanted = append(r.wanted, strings.Fields(a.Value)...)
		case "marker-end":
			r.wanted = append(r.wanted, strings.TrimSuffix(strings.TrimPrefix(a.Value, "url(#"), ")"))
		case "src", "href", "style", "onload", "onclick":
			r.t.Errorf("%s has an attribute %s", e.Name.Local, a.Name.Local)
		}
	}
}

func TestPagesNeedNothingButThemselves(t *testing.T) {
	text := examine(t, write(t, small()))
	for _, want := range []string{
		"in Go: simulation.Run(result.Failures[0].Plan, options, check)", "replica 1 lacks <b>skill/a</b> & more", "1,200", "home <&>", "1,113, everywhere after 280ms (half)", // the campaign
		"Divergence over virtual time", "Traffic by route", "Space-time diagram", "Convergence time by fleet size and loss",
		"virtual time since the beginning (ms)", "versions missing", "bytes a second", "fleet size (replicas)", "time until everywhere (s)",
		"00:00:00.901", "never (unsent)", "20 %",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if !strings.Contains(text, "traces c0ffee") || !strings.Contains(text, "trace beef") {
		t.Error("the hash of a run and that over all of them are not told apart")
	}
	if strings.Contains(text, "--seed 9") {
		t.Error("the page names a command that knows nothing of the campaign's own plans")
	}
	if strings.Contains(text, "second line") {
		t.Error("a stack trace stands in the table of failures")
	}
	for name, d := range map[string]report.Data{
		"nothing":  {},
		"a run":    {Run: &report.Run{Replicas: 2, TrafficEvery: time.Second}},
		"a sweep":  {Sweep: &report.Sweep{}},
		"campaign": {Campaign: &campaign.Result{Coverage: simulation.NewCoverage()}},
	} {
		t.Run(name, func(t *testing.T) { examine(t, write(t, d)) })
	}
}

func TestWhatNoRunHasShownIsNotZero(t *testing.T) {
	d := report.Data{Campaign: small().Campaign}
	d.Campaign.Seeds, d.Campaign.Convergence = len(d.Campaign.Failures), campaign.Quantiles{}
	text := examine(t, write(t, d))
	if strings.Count(text, "–") != 3 || strings.Contains(text, "0 s") {
		t.Error("the page shows how fast fleets were that never became one")
	}
}

// TestFaultsFitANarrowScreen holds that the bars of faults, and the numbers
// beside them, end within 340 pixels, whatever their number.
func TestFaultsFitANarrowScreen(t *testing.T) {
	r := &campaign.Result{Seeds: 1, Coverage: simulation.NewCoverage()}
	times := 1
	for _, f := range simulation.AllFaults() {
		r.Coverage.Faults[f] = times
		times = min(3*times, 9_999_999)
	}
	page := string(write(t, report.Data{Campaign: r}))
	picture := regexp.MustCompile(`(?s)<svg viewBox="0 0 (\d+) [^>]*role="img".*?</svg>`).FindStringSubmatch(page)
	if picture == nil || picture[1] != "340" {
		t.Fatalf("the picture is %.100s", picture)
	}
	const letter = 7.4 // pixels, of a tick
	for _, text := range regexp.MustCompile(`text-anchor="(\w+)" x="([0-9.]+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(picture[0], -1) {
		x, err := strconv.ParseFloat(text[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		long := letter * float64(len(text[3]))
		if from, to := x-long, x+long; text[1] == "end" && from < 0 || text[1] == "start" && to > 340 || text[1] == "middle" && x+long/2 > 340 {
			t.Errorf("%s %q at %g ends outside", text[1], text[3], x)
		}
	}
	for _, bar := range regexp.MustCompile(`<rect class="bar fault" x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)"`).FindAllStringSubmatch(picture[0], -1) {
		x, _ := strconv.ParseFloat(bar[1], 64)
		width, _ := strconv.ParseFloat(bar[2], 64)
		if x+width > 270 {
			t.Errorf("a bar from %g on is %g long", x, width)
		}
	}
}

func TestWordsAreEscaped(t *testing.T) {
	d := small()
	const hostile = `</style><script>alert(1)</script>" x="`
	d.Title, d.Command, d.Run.Title, d.Run.Failure = hostile, hostile, hostile, hostile
	d.Run.Spans[0].Kind, d.Run.Spans[0].Who = hostile, hostile
	d.Run.Marks[0].Text, d.Run.Window.Points[0].Text, d.Run.Window.Points[2].Text = hostile, hostile, hostile
	d.Run.Window.Messages[0].Name, d.Run.Window.Why = hostile, hostile
	d.Replay = func(campaign.Failure) string { return hostile }
	examine(t, write(t, d))
}

func TestAFileIsThereAsAWhole(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "page.html")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := report.File(path, small()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, write(t, small())) {
		t.Errorf("the file is not the page: %v", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
	missing := filepath.Join(folder, "no", "page.html")
	if err := report.File(missing, small()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := os.Mkdir(filepath.Join(folder, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := report.File(filepath.Join(folder, "taken"), small()); err == nil || !strings.Contains(err.Error(), "taken") {
		t.Errorf("a folder stands in the way, got %v", err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 2 {
		t.Errorf("what failed has left something: %v", entries)
	}
}

// TestAPageTakesThePlaceOfAFileAlone holds that File writes through links, keeps
// a mode, and touches nothing that is no file; and that Writable says so before.
func TestAPageTakesThePlaceOfAFileAlone(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	err := errors.Join(os.Mkdir(at("sub"), 0o750), os.WriteFile(at("kept"), nil, 0o600))
	for link, to := range map[string]string{"link": "kept", "dangling": "sub/new", "round": "round", "sub/up": "../up"} {
		err = errors.Join(err, os.Symlink(to, at(link)))
	}
	if err != nil {
		t.Skip(err)
	}
	for path, file := range map[string]string{"link": "kept", "dangling": "sub/new", "sub/up": "up", "plain": "plain"} {
		if err := errors.Join(report.Writable(at(path)), report.File(at(path), small())); err != nil {
			t.Error(err)
		}
		if info := stat(t, at(file)); !info.Mode().IsRegular() || info.Size() == 0 {
			t.Errorf("%s: %s of %d bytes", path, info.Mode(), info.Size())
		}
	}
	if mode := stat(t, at("kept")).Mode().Perm(); mode != 0o600 {
		t.Errorf("its mode is %s now", mode)
	}
	if mode := stat(t, at("link")).Mode(); mode&os.ModeSymlink == 0 {
		t.Errorf("the link is %s now", mode)
	}
	for _, path := range []string{folder, at("round"), os.DevNull, at("nowhere/page")} {
		if report.Writable(path) == nil || report.File(path, small()) == nil {
			t.Errorf("%s was written", path)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 7 { // kept, link, dangling, round, sub, up, plain
		t.Errorf("there is %v: %v", entries, err)
	}
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

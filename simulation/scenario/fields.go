package scenario

import "strconv"

// Field is one field of the YAML form.
type Field struct {
	// Path is its name behind those of what it stands in, such as
	// sites.absences.at.
	Path string
	// Want says what is allowed.
	Want string
}

// Fields returns every field, in the order of the reference.
func Fields() []Field {
	var all []Field
	var walk func(above string, fields []field)
	walk = func(above string, fields []field) {
		for _, f := range fields {
			all = append(all, Field{join(above, f.name), f.want})
			walk(join(above, f.name), f.below)
		}
	}
	walk("", (&Scenario{}).fields())
	return all
}

var (
	durationRange = parseRange(parseDuration)
	sizeRange     = parseRange(parseSize)
)

const (
	wantDurations = "a duration or a range such as 10s..5m"
	wantSizes     = "a size or a range such as 200B..4KiB"
)

func (s *Scenario) fields() []field {
	return []field{
		scalar("name", "text", &s.Name, parseText),
		scalar("seed", "a number from 0", &s.Seed, func(text string) (uint64, error) { s.Seeded = true; return parseSeed(text) }),
		scalar("duration", wantDuration, &s.Duration, parseDuration),
		scalar("heartbeat", wantDuration, &s.Heartbeat, parseDuration),
		scalar("timeout", wantDuration, &s.Timeout, parseDuration),
		scalar("gossip", "true or false", &s.Gossip, parseBool),
		scalar("hub", "the name of a site with one agent", &s.Hub, parseText),
		list("sites", "sites", &s.Sites, func() Site { return Site{Agents: 1} }, (*Site).fields),
		list("links", "links", &s.Links, defaultLink, (*Link).fields),
		list("writes", "writes", &s.Writes, defaultWrites, (*Writes).fields),
		group("faults", s.Faults.fields()),
	}
}

func (s *Site) fields() []field {
	return []field{
		scalar("name", "text", &s.Name, parseText),
		scalar("agents", "a whole number", &s.Agents, strconv.Atoi),
		scalar("clock_error", wantDuration, &s.ClockError, parseDuration),
		scalar("zone", "a duration such as 9h or -5h", &s.Zone, parseZone),
		scalar("withholds", "skill or memory", &s.Withholds, parseText),
		list("absences", "absences", &s.Absences, func() Absence { return Absence{} }, (*Absence).fields),
	}
}

func (a *Absence) fields() []field {
	return append([]field{scalar("agents", "a whole number", &a.Agents, strconv.Atoi)}, a.Window.fields()...)
}

func (w *Window) fields() []field {
	return []field{
		scalar("at", wantDuration, &w.At, parseDuration),
		scalar("for", wantDuration, &w.For, parseDuration),
		scalar("every", wantDuration, &w.Every, parseDuration),
	}
}

func (l *Link) fields() []field {
	return []field{
		words("between", "the names of two sites, such as [home, office]", l.join),
		scalar("from", "the name of a site", &l.From, parseText),
		scalar("to", "the name of a site", &l.To, parseText),
		scalar("latency", "a duration or a range such as 20ms..80ms", &l.Latency, durationRange),
		scalar("loss", wantShare, &l.Loss, parseShare),
		scalar("bandwidth", wantBandwidth, &l.Bandwidth, parseBandwidth),
		list("cuts", "cuts", &l.Cuts, func() Window { return Window{} }, (*Window).fields),
	}
}

// join makes a link the same in both directions.
func (l *Link) join(sites []string) error {
	if len(sites) != 2 || l.From != "" || l.To != "" {
		return errForm
	}
	l.From, l.To, l.Both = sites[0], sites[1], true
	return nil
}

func (w *Writes) fields() []field {
	return []field{
		words("sites", "names of sites", w.choose),
		scalar("rate", wantRate, &w.Rate, parseRate),
		scalar("quiet", wantSpan, &w.Quiet, parseSpan),
		scalar("new", wantShare, &w.New, parseShare),
		scalar("edits", wantShare, &w.Edits, parseShare),
		scalar("deletes", wantShare, &w.Deletes, parseShare),
		scalar("keys", "a whole number", &w.Keys, strconv.Atoi),
		scalar("size", wantSizes, &w.Size, sizeRange),
	}
}

// choose takes the names of sites. An empty list would be no site at all, and is
// in a Writes every one.
func (w *Writes) choose(names []string) error {
	if len(names) == 0 {
		return errForm
	}
	w.Sites = names
	return nil
}

func (f *Faults) fields() []field {
	return []field{
		scalar("crashes", wantRate, &f.Crashes, parseRate),
		scalar("downtime", wantDurations, &f.Downtime, durationRange),
		scalar("dropouts", wantRate, &f.Dropouts, parseRate),
		scalar("dropout_for", wantDurations, &f.DropoutFor, durationRange),
		scalar("partitions", wantRate, &f.Partitions, parseRate),
		scalar("partition_for", wantDurations, &f.PartitionFor, durationRange),
		scalar("disk_errors", wantRate, &f.DiskErrors, parseRate),
	}
}

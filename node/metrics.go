package node

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// metricsTimeout bounds one look at the node.
const metricsTimeout = 5 * time.Second

// Collector returns what is to be watched of a node, in the form of Prometheus. It
// names members and reasons, and nothing of what is stored: neither texts, nor
// keys, nor scopes. It may be registered once, and is safe for concurrent use.
func (n *Node) Collector() prometheus.Collector { return collector{n} }

// collector looks at the node whenever somebody asks.
type collector struct{ node *Node }

// metric describes one series, or one for each of its labels' values.
func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("fleetd_"+name, help, labels, nil)
}

var (
	metricInSync    = metric("in_sync", "1 when every other member is connected, answers and was equal when last compared.")
	metricRecords   = metric("records", "Versions held in the sections that are shared.")
	metricConflicts = metric("conflicts", "Versions that lost to a concurrent one and are not settled.")
	metricParked    = metric("parked", "Versions that wait, by what for.", "reason")
	metricWanted    = metric("wanted_blobs", "Contents that are still to be fetched.")
	metricStore     = metric("store_bytes", "What the store takes of the disk.")
	metricFailing   = metric("store_failing", "1 when the store can take nothing in, as when the disk is full.")
	metricUp        = metric("member_connected", "1 when the member is connected and answers.", "member", "id")
	metricBehind    = metric("member_behind", "Versions that the member lacks.", "member", "id")
	metricAhead     = metric("member_ahead", "Versions of the member that this node lacks, at most.", "member", "id")
	metricLag       = metric("member_lag_seconds", "For how long the member has not been equal; 0 when it is.", "member", "id")
	metricOffset    = metric("member_clock_offset_seconds", "How far the clock of the member is ahead of that of this machine.", "member", "id")
	metricQueue     = metric("queue_length", "What waits in the engine, by queue.", "queue")
	metricQueueMax  = metric("queue_limit", "What may wait in the engine, by queue.", "queue")
	metricMessages  = metric("gossip_messages_total", "Gossip messages, by what became of them.", "outcome")
	metricIncoming  = metric("sync_records_total", "Records from members, by what became of them.", "outcome")
	metricHeld      = metric("held_back", "Records that are held back on this machine, since they hold a key or a token.")
	metricHeldTotal = metric("secrets_held_total", "Writes that were held back since the start, by the rule that found a key or a token.", "rule")
	metricEvents    = metric("sync_events_total", "What replication has met with, by kind.", "event")
)

// Describe implements prometheus.Collector.
func (collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		metricInSync, metricRecords, metricConflicts, metricParked, metricWanted, metricStore, metricFailing, metricUp, metricBehind,
		metricAhead, metricLag, metricOffset, metricQueue, metricQueueMax, metricMessages, metricIncoming, metricEvents, metricHeld, metricHeldTotal,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), metricsTimeout)
	defer cancel()
	st, err := c.node.Status(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(metricInSync, err)
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(metricInSync, oneIf(st.InSync))
	gauge(metricRecords, float64(st.Records))
	gauge(metricConflicts, float64(st.Conflicts))
	gauge(metricWanted, float64(st.WantedBlobs))
	gauge(metricHeld, float64(st.Held))
	for rule, n := range c.node.secrets.byRule() {
		ch <- prometheus.MustNewConstMetric(metricHeldTotal, prometheus.CounterValue, float64(n), rule)
	}
	gauge(metricStore, float64(c.node.storeBytes()))
	gauge(metricFailing, oneIf(c.node.store.Failing() != nil))
	for _, reason := range store.Reasons() {
		gauge(metricParked, float64(st.ParkedFor[reason]), reason.String())
	}
	for i := range st.Members {
		m := &st.Members[i]
		if m.State == MemberSelf {
			continue
		}
		connected := m.State != MemberOffline && m.State != MemberNeverSeen && m.State != MemberIncompatible
		gauge(metricUp, oneIf(connected), m.Name, m.ID.String())
		gauge(metricBehind, float64(m.Lacks), m.Name, m.ID.String())
		gauge(metricAhead, float64(m.Behind), m.Name, m.ID.String())
		lag := 0.0
		if m.State != MemberInSync && !m.Since.IsZero() {
			lag = time.Since(m.Since).Seconds()
		}
		gauge(metricLag, lag, m.Name, m.ID.String())
	}
	c.collectEngine(ctx, gauge)
	collectCounters(&st.Counters, ch)
}

// collectEngine tells what only the engine knows; nothing while it does not run.
func (c collector) collectEngine(ctx context.Context, gauge func(*prometheus.Desc, float64, ...string)) {
	net, err := c.node.network()
	if err != nil {
		return
	}
	var queues []fleetsync.Gauge
	offsets := map[merge.InstanceID]time.Duration{}
	err = net.loop.ask(ctx, func(e *fleetsync.Engine) {
		queues = e.Load()
		for _, p := range e.Peers() {
			offsets[p.ID] = p.Skew
		}
	})
	if err != nil {
		return
	}
	for _, q := range queues {
		gauge(metricQueue, float64(q.N), q.Name)
		gauge(metricQueueMax, float64(q.Max), q.Name)
	}
	for id, offset := range offsets {
		gauge(metricOffset, offset.Seconds(), c.node.NameOf(id), id.String())
	}
}

func collectCounters(c *Counters, ch chan<- prometheus.Metric) {
	s := &c.Sync
	for _, total := range []struct {
		desc  *prometheus.Desc
		label string
		n     uint64
	}{
		{metricMessages, "published", c.GossipPublished},
		{metricMessages, "ignored", c.GossipIgnored},
		{metricMessages, "rejected", c.GossipRejected},
		{metricMessages, "dropped", c.GossipDropped},
		{metricIncoming, "applied", s.Applied},
		{metricIncoming, "known", s.Known},
		{metricIncoming, "parked", s.Parked},
		{metricIncoming, "refused", s.Refused},
		{metricIncoming, "unsupported", s.Unsupported},
		{metricIncoming, "repaired", s.Repaired},
		{metricEvents, "exchange", s.Pulls},
		{metricEvents, "audit", s.Audits},
		{metricEvents, "difference", s.Differences},
		{metricEvents, "blob fetched", s.Blobs},
		{metricEvents, "cursor invalid", s.CursorsInvalid},
		{metricEvents, "bad signature", s.BadSignatures},
		{metricEvents, "timeout", s.Timeouts},
		{metricEvents, "busy sent", s.BusySent},
		{metricEvents, "heads ignored", s.HeadsIgnored},
		{metricEvents, "store error", s.StoreErrors},
		{metricEvents, "send dropped", c.SendsDropped},
		{metricEvents, "connection renewed", c.GossipRenewed},
	} {
		ch <- prometheus.MustNewConstMetric(total.desc, prometheus.CounterValue, float64(total.n), total.label)
	}
}

// storeBytes is what the files of the store take of the disk; 0 for one in memory.
func (n *Node) storeBytes() (bytes int64) {
	_ = filepath.WalkDir(layout(n.Dir()).storeDir(), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // files come and go
		}
		if info, err := entry.Info(); err == nil {
			bytes += diskUse(info)
		}
		return nil
	})
	return bytes
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

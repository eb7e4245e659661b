package simulation

import (
	"time"

	"github.com/fleetsync/fleetd/state"
)

// The settings of everything that a plan consists of. A field that is missing
// here fails TestEveryFieldHasItsSetting. Names are those of the text form; they
// do not change.

const (
	// replicasMax is how many replicas a plan may have; more would take hours.
	replicasMax = 4096
	// pathsMax is every direction between some hundreds of sites.
	pathsMax = 100_000
	// stepsMax keeps a plan that a machine wrote within what a machine can hold.
	stepsMax = 1_000_000
	// countMax is the largest Count: of records of a burst, and of a key.
	countMax = 1_000_000
	// bytesMax is the largest body that an agent can write.
	bytesMax = 60 << 10
	// recordBytes is about what a record has besides its body, and heldMax how many
	// bytes of records all replicas may hold together: a run takes three or four
	// times as much memory.
	recordBytes = 400
	heldMax     = 4 << 30
	// pageBytesMin keeps a budget from being so small that a fleet takes days to
	// send what it has: what may be read follows from it.
	pageBytesMin = 256
	// century is the longest time anywhere: stamps and Go's durations have room
	// for more.
	century = 100 * 365 * 24 * time.Hour
	// sinceUnix is how far a clock may be put back: stamps count from 1970.
	sinceUnix = 57 * 365 * 24 * time.Hour
)

// settings are those of the whole plan, one a line.
func (p *Plan) settings() []setting {
	return []setting{
		{name: "seed", value: &p.Seed, always: true},
		setting{name: "replicas", value: &p.Replicas}.within(2, replicasMax).written(),
		{name: "topology", value: (*uint8)(&p.Topology), names: topologies[:], always: true},
		setting{name: "degree", value: &p.Degree}.within(0, replicasMax),
		setting{name: "start-within", value: &p.StartWithin}.lasting(0, century),
		{name: "gossip", value: &p.Gossip, always: true},
		setting{name: "gossip-degree", value: &p.GossipDegree}.within(0, replicasMax),
		setting{name: "heartbeat", value: &p.HeartbeatEvery}.lasting(100*time.Millisecond, century),
		setting{name: "timeout", value: &p.RequestTimeout}.lasting(100*time.Millisecond, century),
		setting{name: "tick", value: &p.TickEvery}.lasting(10*time.Millisecond, century),
		setting{name: "page-bytes", value: &p.PageBytes}.within(pageBytesMin, 1<<30).orDefault(),
		setting{name: "parked-max", value: &p.ParkedMax}.within(0, 1<<30),
		setting{name: "history-max", value: &p.HistoryMax}.within(0, 1<<30),
		setting{name: "inline-bytes", value: &p.InlineBytes}.within(0, state.InlineBytesDefault),
		setting{name: "absent", value: &p.Absent}.within(0, float64(p.Replicas-1)),
		setting{name: "newer", value: &p.Newer}.within(0, float64(p.Replicas-1)),
		setting{name: "rest", value: &p.Rest}.lasting(0, century),
	}
}

// replicaSettings are those of one replica, in one line. The lists must be whole,
// see normal.
func (p *Plan) replicaSettings(number int) []setting {
	return []setting{
		setting{name: "skew", value: &p.Skews[number]}.lasting(-sinceUnix, century),
		{name: "grant", value: (*uint8)(&p.Grants[number]), names: grantModes[:]},
		{name: "limit", value: (*uint8)(&p.Limits[number]), names: grantLimits[:]},
		{name: "withheld", value: &p.Withheld[number]},
		setting{name: "site", value: &p.Sites[number]}.within(0, replicasMax-1),
	}
}

// settings are those of a weather, in one line.
func (w *Weather) settings() []setting {
	return []setting{
		setting{name: "latency-min", value: &w.LatencyMin}.lasting(0, w.LatencyMax),
		setting{name: "latency-max", value: &w.LatencyMax}.lasting(0, century),
		{name: "ordered", value: &w.Ordered},
		setting{name: "loss", value: &w.Loss}.within(0, 1),
		setting{name: "gossip-loss", value: &w.GossipLoss}.within(0, 1),
		setting{name: "duplicate", value: &w.Duplicate}.within(0, 1),
		setting{name: "stray", value: &w.Stray}.within(0, 1),
		setting{name: "stray-max", value: &w.StrayMax}.lasting(0, century),
		setting{name: "straggle", value: &w.Straggle}.within(0, 1),
		setting{name: "bandwidth", value: &w.Bandwidth}.within(0, 1<<40),
		setting{name: "corrupt", value: &w.Corrupt}.within(0, 1),
	}
}

// settings are those of a line between two sites.
func (p *Path) settings() []setting {
	return append([]setting{
		setting{name: "from", value: &p.From}.within(0, replicasMax-1).written(),
		setting{name: "to", value: &p.To}.within(0, replicasMax-1).written(),
	}, p.Weather.settings()...)
}

// settings are those of a step of a plan of so many replicas, but for its After,
// its Act, and its Replica, which come first in its line.
func (s *Step) settings(replicas int) []setting {
	forLow := time.Duration(0)
	if s.Act == ActSkew || s.Act == ActStep {
		forLow = -sinceUnix
	}
	peers := replicas - 1
	if !s.Act.hasPeer() {
		peers = countMax // of another meaning
	}
	return []setting{
		setting{name: "peer", value: &s.Peer, always: s.Act.hasPeer()}.within(0, float64(peers)),
		setting{name: "for", value: &s.For}.lasting(forLow, century),
		setting{name: "count", value: &s.Count, always: s.Act.hasKey()}.within(0, countMax),
		setting{name: "bytes", value: &s.Bytes}.within(0, bytesMax),
		setting{name: "group", value: (*group)(&s.Group)}.within(0, float64(replicas-1)),
	}
}

// hasPeer reports whether the act is about two replicas.
func (a Act) hasPeer() bool {
	switch a {
	case ActTwin, ActAsymmetric, ActCutLine, ActDisconnect, ActCorrupt, ActLossy, ActThrottle, ActFlap, ActHoard, ActSwap, ActClone:
		return true
	default:
		return false
	}
}

// hasKey reports whether Count is the number of a key.
func (a Act) hasKey() bool {
	return a == ActWithdraw || a == ActWrite || a == ActDelete || a == ActTwin || a == ActRead || a == ActRevise ||
		a == ActPoison || a == ActEquivocate || a == ActForgeBasis
}

// everybody reports whether the act is about no replica in particular.
func (a Act) everybody() bool {
	return a == ActPartition || a == ActJump || a == ActAudit || a == ActWithdraw || a == ActLift
}

// Acts returns every act.
func Acts() []Act {
	return append([]Act{
		ActWrite, ActDelete, ActBurst, ActRead, ActRevise, ActImport, ActLarge, ActPrivate, ActForeign, ActJudge, ActSettle, ActTwin,
		ActPartition, ActAsymmetric, ActCutLine, ActDisconnect, ActCrash, ActCrashWrite, ActAbsence, ActReturn, ActJump, ActJoin,
		ActBackup, ActRollback, ActGrant, ActBan, ActVoid, ActWithdraw, ActLift, ActSkew, ActSlow, ActRefuse, ActFlaky, ActDoubt, ActAudit, ActUnreadable,
		ActCorrupt, ActLossy, ActThrottle, ActClog, ActFlap, ActHoard, ActNewer, ActShare, ActBusy,
		ActForgeHeads, ActForgeAnswers, ActForgeContents, ActForgeRequests, ActForgeRecords, ActForgeGossip, ActFlipBits, ActReplay,
		ActUnasked, ActPoison, ActEquivocate, ActForgeBasis, ActMadeUp, ActFlood, ActClaim, ActEndless, ActPry, ActMute,
	}, machineActs()...)
}

// Package simulation runs a whole fleet in one goroutine, from one number: the
// production engine, store, merge, state and fleet code over a virtual network,
// virtual disks and virtual clocks. A [Plan] says what happens, [NewPlan] draws
// one from a seed, and a [Cluster] carries it out: agents write, edit, delete
// and revive the same records on several replicas, which may stand at several
// sites with lines of their own between them ([Path]), while
//
//   - messages are lost, duplicated, reordered, damaged, and held up for seconds
//     or for weeks; links are cut in one direction or both, jam, flap or are
//     narrow;
//   - processes die between two writes and within one, or are stopped;
//   - power fails in the middle of an update; disks fail, are slow, are full, lie
//     about what they have written, or come back from a backup;
//   - clocks are wrong by seconds, by more than the fleet tolerates or by decades,
//     are set while processes run, or stand still;
//   - machines sleep, are lost, are copied and run twice, start without their disk
//     or with another's, or have a disk that loses bits and rows;
//   - members are away for days or a year, join late and several at once, run a
//     later build, stop sharing a family and begin again, or write before anybody
//     knows that they may;
//   - members are banned, also while they are apart and write on, what they wrote for a
//     while is voided, contents are withdrawn, and root gives some of it back;
//   - members lie: in greetings, answers, requests, records and gossip, by frames
//     that are damaged, old, unasked or too many, and by silence.
//
// Then all faults end, and the fleet must become one within [Cluster.Bound].
//
//	c, err := simulation.New(simulation.NewPlan(42), simulation.Options{})
//	err = c.Run()
//
// For a test of one situation, fill a Plan by hand ([Calm]), and call
// [Cluster.Do], [Cluster.RunFor], [Cluster.Heal], [Cluster.Converge] and
// [Cluster.Check] as needed.
//
// A plan has a text form ([Plan.Text], [ParsePlan]) that can be kept, compared
// and edited. [Shrink] makes one that fails as short as it can; those that found
// a fault are kept in testdata/regressions. Package campaign runs many.
//
// # Use it in your own tests
//
// A test of another module can simulate its own fleet with exported names alone:
//
//   - the fleet is a [Plan]: how many replicas at which [Plan.Sites], with which
//     [Path] between them, and what goes wrong when, as [Step] values or as text
//     ([ParsePlan]). [Calm] is where to begin; [NewPlan] draws everything;
//   - what its agents do is [Options.Workload]: [Cluster.Agent] lets one work at
//     a virtual time through package state, as a program beside a real node would,
//     and [Cluster.Every] repeats it. What it draws it must draw from the seed;
//   - what must hold is a check: of the fleet that has become one, as the last
//     argument of [Run], or on the way, by the error of an agent or [Cluster.Fail];
//   - many seeds run with package campaign, on all processors; a failure is made
//     short by [Shrink], and its plan, as text, is a regression test;
//   - [Options.Observe] is told of everything that happens, [Options.Sample]
//     measures how far members are behind, and package report draws both.
//
// Every write of a workload is held to the invariants below, without more. The
// examples are complete; docs/simulation.md goes through them step by step.
//
// # What is real
//
// Every message passes the wire codec, every gossip message its decoder, every
// record is signed with a real key and its signature verified, once for each
// record. Stores run over a virtual disk: the memory engine, whose updates are
// entries of a log. An honest disk returns from an update when its entry is
// behind a sync barrier; when the power goes before that, the entry is lost,
// torn, or whole and unacknowledged, and the next process replays what is
// whole. A disk that lies returns before, so that power takes what was
// acknowledged. What package node does is played by replica.go: it carries out
// what engines ask for, with delays, and nothing of it decides anything.
//
// # What comes later
//
// Faults and invariants of the reliability model that need code which does not
// exist yet. Each comes with that code, as its own acts, faults and checks:
//
//	what                                      needs                            where it goes
//	absences round the floor of a section     fleet.floor                      absence.go has the lengths; I4
//	a wiped or swapped disk, a rollback that  successor keys, the clone alarm  steps.go: what mute and cloned
//	  writes at once, a live clone                                             stand for until then; I2, I3
//	sessions, shared or not                   sharing.go of a family in a run  work.go, sharing.go
//
// # Invariants
//
// Checked at each commit, and for the rest when the fleet has converged, on
// every replica. Each has its name, [Invariant], which a [Violation] carries:
//
//   - I1: equal sets of versions, equal roots, nothing parked that is
//     admissible, equal conflicts, equal reads through package state, and every text
//     that any replica has is everywhere that it is shared.
//   - I2: every acknowledged write is held, or covered by what is held; the head
//     is last-writer-wins over all of them. The model that knows them is told
//     by writers alone, and shares no code with the merge (so it also holds
//     I4 and I13: no tombstone is undone, and the order of arrival is nothing).
//   - I3, I5: the stamps of an instance rise strictly across restarts, and
//     follow everything that its store had committed.
//   - I6: no version is merged whose stamp lies too far ahead, and no honest
//     clock is led away from true time.
//   - I7: no version is merged that the statements known there do not admit, or
//     written that its writer's grant does not cover, by its time, its scopes and
//     its families; and no other write is refused. What was taken away is held
//     nowhere in the end, and what it had replaced is, where a history still had it. What a
//     grant covers, and what was taken away, the model says by itself.
//   - I8: each outcome that a store counts goes on by one from the last that it
//     has, and the sums that agents read of a skill are those of its stores.
//   - I9: the queues and maps that an engine keeps for its peers, and what a store
//     keeps parked, stay within their bounds.
//   - I10: what a damaged disk gives is as it was written, or an error; no peer
//     gets anything else.
//   - I11: records are held byte for byte as they were written.
//   - I12: after the last fault the fleet is one within [Cluster.Bound].
//   - I14: the feed has each held version once; the store's own rows agree.
//   - A read shows the newest that the store of its replica has taken in, so also
//     what its agent has just written, with every field as it was given; lists
//     have every live head and no other, and conflicts every version that lost.
//     Compare-and-set refuses a write exactly when the head is another than its
//     agent has read.
//   - Folding the state stream of a replica gives its state, byte for byte.
//   - Cursors lie beyond nothing that did not come; nothing is fetched when
//     nothing changes; what is private to a replica is nowhere else; no honest
//     peer is blamed; what engines say of their peers is true.
//
// Equal seeds give equal traces (TestSameSeedSameTrace). That these checks
// notice is proven by planting faults in the production code: MUTANTS.md says
// which seed finds each.
//
// # Hazards
//
//   - Of a machine and its copy, nobody is connected with both at once, and the
//     copy is found out and lost when all faults end. Of keys that both have
//     written only the head is checked, as after a rollback: the later version
//     covers the other one unseen.
//   - Nothing repairs a damaged disk yet, and not every row that is gone leaves a
//     trace (the hazards of package store list which do not). So a replica with
//     such a disk ends as a lost machine does, at the latest when all faults end,
//     and what it does not show any more is not held against it.
//   - A replica whose disk was rolled back writes nothing until its clock has
//     passed all that it had issued before, and of keys whose writes it has
//     forgotten only the head is checked: its next write under the same identity
//     covers what it has not seen. The rule against that, a successor key, does
//     not exist yet.
package simulation

package storetest

import (
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Judging returns a judge that reads every record and takes nothing away: its
// mark is that of no statements.
func Judging(reason func(rec *merge.Record) store.Reason) store.Judge { return judge{reason: reason} }

// JudgingAs is Judging by statements that take something away. Other ones have
// another mark.
func JudgingAs(mark byte, reason func(rec *merge.Record) store.Reason) store.Judge {
	return judge{reason, [32]byte{mark}}
}

type judge struct {
	reason func(*merge.Record) store.Reason
	mark   [32]byte
}

func (j judge) Judge(rec *merge.Record) store.Reason { return j.reason(rec) }

func (judge) JudgeVersion(merge.Key, merge.Version) (reason store.Reason, sure bool) { return 0, false }

func (j judge) Mark() [32]byte { return j.mark }

func admitAll(*merge.Record) store.Reason { return 0 }

package state

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// The index. Names are components joined by 0x00, values one byte unless said;
// SCOPE is the three fields of a scope joined by 0x1f. All of it follows from
// the heads alone, so it can be dropped and built again.
//
//	skill.slug  SLUG SCOPE         a live skill: slug -> scopes, and all skills by slug
//	skill.in    SCOPE SLUG         a live skill: the skills of a scope by slug
//	skill.id    ID SCOPE SLUG      a live skill or a tombstone, one row for each of its ids
//	skill.sums  SCOPE SLUG         live outcomes of that name -> what they add up to: uses16, wins16, records8
//	memory.id   ID SCOPE           a live item or a tombstone
//	memory.all  TIME ID SCOPE      a live item: all items, oldest first
//	memory.in   SCOPE TIME ID      a live item: the items of a scope, oldest first
//	session.in  SCOPE TIME ID      a live session: the sessions of a scope, oldest first
//	turn.in     SCOPE SID SEQ STAMP WRITER ID   a live turn: the turns of a session in their order
//	turn.tally  SCOPE SID          how many turns a session has, and the newest of them
//	held        KIND SCOPE ID      what the gate holds back -> its rules
//	invalid     KIND SECTION ID    a head that breaks the rules of its kind -> why
//
// TIME is CreatedAt in 16 hexadecimal digits that ascend as it does, as SEQ,
// STAMP and WRITER ascend as what they stand for. SID is a session's id.
const (
	indexSkillSlug = "skill.slug"
	indexSkillIn   = "skill.in"
	indexSkillID   = "skill.id"
	indexSkillSums = "skill.sums"
	indexMemoryID  = "memory.id"
	indexMemoryAll = "memory.all"
	indexMemoryIn  = "memory.in"
	indexSessionIn = "session.in"
	indexTurnIn    = "turn.in"
	indexTurnTally = "turn.tally"
	indexGate      = "held"
	indexInvalid   = "invalid"
)

// indexVersion changes whenever the rows of one head would be others, and
// makes the store build them again.
const indexVersion = 5

// Values of index rows: whether the record that the row leads to is live.
const (
	indexLive    = "l"
	indexHeld    = "h" // live, and held back by the gate for secrets
	indexDeleted = "d"
)

// indexReasonBytesMax bounds the reason of an invalid record.
const indexReasonBytesMax = 256

// indexRow is one row: its name and its value.
type indexRow struct{ name, value string }

// indexRows returns the rows of one head; none when there is no head.
func indexRows(head *merge.Record) []indexRow {
	if head == nil {
		return nil
	}
	var rows []indexRow
	var err error
	switch head.Key.Kind {
	case kindSkill:
		rows, err = skillRows(head)
	case kindMemory:
		rows, err = memoryRows(head)
	case kindSession:
		rows, err = sessionRows(head)
	case kindTurn:
		rows, err = turnRows(head)
	case kindOutcome:
		_, err = decodeOutcome(head) // its row is a sum: see outcomeChanges
	}
	if err != nil {
		reason := err.Error()
		reason = strings.ToValidUTF8(reason[:min(len(reason), indexReasonBytesMax)], "")
		return []indexRow{{indexName(indexInvalid, head.Key.Kind, head.Key.Section().ID(), string(head.Key.ID)), reason}}
	}
	return heldRows(head, rows)
}

// heldRows marks the rows of a record that is held, and adds that of its list.
func heldRows(head *merge.Record, rows []indexRow) []indexRow {
	held := heldBy(head)
	if held == "" {
		return rows
	}
	for i := range rows {
		rows[i].value = indexHeld
	}
	return append(rows, indexRow{indexName(indexGate, head.Key.Kind, scopeID(head.Key.Scope), string(head.Key.ID)), held})
}

func skillRows(head *merge.Record) ([]indexRow, error) {
	sk, err := decodeSkill(head)
	if err != nil {
		return nil, err
	}
	scope, derived := scopeID(sk.Scope), SkillID(sk.Scope, sk.Slug)
	state := indexLive
	if sk.Deleted {
		state = indexDeleted
	}
	rows := []indexRow{{indexName(indexSkillID, derived, scope, sk.Slug), state}}
	if sk.ID != derived {
		rows = append(rows, indexRow{indexName(indexSkillID, sk.ID, scope, sk.Slug), state})
	}
	if !sk.Deleted {
		rows = append(rows,
			indexRow{indexName(indexSkillSlug, sk.Slug, scope), state},
			indexRow{indexName(indexSkillIn, scope, sk.Slug), state})
	}
	return rows, nil
}

func memoryRows(head *merge.Record) ([]indexRow, error) {
	it, err := decodeMemoryBody(head)
	if err != nil {
		return nil, err
	}
	scope := scopeID(it.Scope)
	if head.Envelope.Deleted {
		return []indexRow{{indexName(indexMemoryID, it.ID, scope), indexDeleted}}, nil
	}
	created := indexTime(it.CreatedAt)
	return []indexRow{
		{indexName(indexMemoryID, it.ID, scope), indexLive},
		{indexName(indexMemoryAll, created, it.ID, scope), indexLive},
		{indexName(indexMemoryIn, scope, created, it.ID), indexLive},
	}, nil
}

func indexName(components ...string) string { return strings.Join(components, "\x00") }

// indexTime turns a time into text that ascends as it does, before 1970 too.
func indexTime(t time.Time) string { return indexNumber(uint64(t.UnixNano()) ^ 1<<63) }

// indexNumber turns a number into text that ascends as it does.
func indexNumber(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return hex.EncodeToString(b[:])
}

const scopeSeparator = "\x1f"

// scopeID is the scope as one component of an index name.
func scopeID(s Scope) string {
	return s.Instance + scopeSeparator + s.Project + scopeSeparator + s.Workspace
}

// parseScopeID is the inverse of scopeID; it is applied to own rows only.
func parseScopeID(id string) Scope {
	instance, rest, _ := strings.Cut(id, scopeSeparator)
	project, workspace, _ := strings.Cut(rest, scopeSeparator)
	return Scope{Instance: instance, Project: project, Workspace: workspace}
}

package fleet

import (
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// topic says what a statement is about.
type topic uint8

const (
	// topicOther is a kind that this build does not know.
	topicOther topic = iota
	// topicRole is a grant of a role that this build does not know.
	topicRole
	topicGrant
	topicSuccession
	topicBan
	topicWithdrawal
	topicFloor
)

// stated is a statement that was read once. It is immutable.
type stated struct {
	rec    *merge.Record
	topic  topic
	byRoot bool

	grant Grant // of a grant and a succession
	ban   Ban   // of a ban and a withdrawal
	floor Floor
}

func (st *stated) issuer() merge.InstanceID { return st.rec.Envelope.LastWriterID }
func (st *stated) stamp() hlc.Timestamp     { return st.rec.Envelope.UpdatedHLC }

// compareStated orders statements as merge orders versions.
func compareStated(a, b *stated) int { return merge.Compare(a.rec.Version(), b.rec.Version()) }

// read reads a statement of its fleet, for which checkStatement holds. Errors:
// ErrMalformed.
func read(rec *merge.Record) (*stated, error) {
	st := &stated{rec: rec, byRoot: IsRoot(rec.Fleet, rec.Envelope.LastWriterID)}
	var err error
	switch rec.Key.Kind {
	case KindGrant:
		st.grant, err = GrantOf(rec)
		switch st.grant.Role {
		case RoleMember, RoleAdmin:
			st.topic = topicGrant
		case RoleSuccessor:
			st.topic = topicSuccession
		default:
			st.topic = topicRole
		}
	case KindBan:
		st.ban, err = BanOf(rec)
		st.topic = topicBan
		if st.ban.Writer == "" {
			st.topic = topicWithdrawal
		}
	case KindFloor:
		st.floor, err = FloorOf(rec)
		st.topic = topicFloor
	}
	return st, err
}

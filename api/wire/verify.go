package wire

// Verification is the outcome of proving the store of the node.
type Verification struct {
	SchemaVersion int `json:"schema_version"`
	// OK says that nothing disagrees.
	OK bool `json:"ok"`
	// Records counts the versions that are held, of what is not shared too.
	Records int64 `json:"records"`
	// Faults say what does not agree, at most a hundred.
	Faults []string `json:"faults"`
}

// Comparison is how what a node holds compares with what other members hold.
type Comparison struct {
	SchemaVersion int `json:"schema_version"`
	// Equal says that at least one member was compared, and that all that were are
	// equal. A fleet of one is equal.
	Equal bool `json:"equal"`
	// Members are the others, or those that were named, by name.
	Members []ComparedMember `json:"members"`
}

// The results of comparing with a member.
const (
	ResultEqual    = "equal"
	ResultDiffers  = "differs"   // Sections say where
	ResultChanging = "changing"  // too much is under way to tell
	ResultUnasked  = "not_asked" // or did not answer to the end: Why tells
)

// ComparedMember is how one member compares.
type ComparedMember struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Result string `json:"result"`
	// Why says why not everything was compared.
	Why string `json:"why,omitempty"`
	// Sections are those that were compared, in their order.
	Sections []ComparedSection `json:"sections"`
}

// The outcomes of a section.
const (
	OutcomeEqual        = "equal"
	OutcomeDiffers      = "differs"
	OutcomeChanging     = "changing"
	OutcomeNotShared    = "not_shared"    // the member keeps it to itself
	OutcomeDamagedHere  = "damaged_here"  // the answering node cannot read its own rows
	OutcomeDamagedThere = "damaged_there" // the member cannot read its own
)

// ComparedSection is how one section compares: a family of records in one scope.
type ComparedSection struct {
	Family  string `json:"family"`
	Scope   Scope  `json:"scope"`
	Outcome string `json:"outcome"`
	// Here and There count the versions held.
	Here  uint64 `json:"here"`
	There uint64 `json:"there"`
	// First is the first key that differs, in their order; null unless the outcome
	// is "differs".
	First *Difference `json:"first"`
}

// Difference is a key of which two members hold other versions.
type Difference struct {
	Kind string `json:"kind"`
	// Key is as in a Conflict.
	Key string `json:"key"`
	// OnlyHere are versions that the member lacks, OnlyThere those that the
	// answering node lacks; at most 16 each. One in both differs in its content.
	OnlyHere  []HeldVersion `json:"only_here"`
	OnlyThere []HeldVersion `json:"only_there"`
}

// HeldVersion names a version of a record.
type HeldVersion struct {
	// WriterID wrote it; Writer is its name, empty when it is no member.
	WriterID string `json:"writer_id"`
	Writer   string `json:"writer,omitempty"`
	// HLC is its stamp.
	HLC string `json:"hlc"`
	// Parked says that the answering node keeps it parked: it waits for authority
	// or for its time, and is not held.
	Parked bool `json:"parked,omitempty"`
}

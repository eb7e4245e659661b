package wire

// Outcome is what one store has counted of one skill. A skill's uses and wins
// are the sums over all stores.
type Outcome struct {
	Slug  string `json:"slug"`
	Scope Scope  `json:"scope"`
	// StoreID is the store that counts, in hex.
	StoreID string `json:"store_id"`
	Uses    int64  `json:"uses"`
	Wins    int64  `json:"wins"`
	Envelope
}

// OutcomeWrite counts one run that recalled a skill.
type OutcomeWrite struct {
	// Won says that the run succeeded. It has to be given.
	Won bool `json:"won"`
}

// SkillEvidence is a skill, without its body, and what speaks for it.
type SkillEvidence struct {
	Skill
	// Confidence is the least share of runs that succeed, as far as wins and uses
	// prove it: the lower end of Wilson's 95 % interval, 0 to 1.
	Confidence float64 `json:"confidence"`
	// ByStore are the counts that uses and wins sum.
	ByStore []Outcome `json:"by_store"`
}

// SkillReport is every skill that was asked for, the most confident first.
type SkillReport struct {
	SchemaVersion int             `json:"schema_version"`
	Skills        []SkillEvidence `json:"skills"`
}

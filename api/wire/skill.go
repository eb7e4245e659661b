package wire

import "time"

// Skill is one live skill.
type Skill struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
	// Description is what the frontmatter of the body says, empty when the
	// body has none that can be read.
	Description string `json:"description"`
	Scope       Scope  `json:"scope"`
	// Version counts the revisions of the content from 1.
	Version int      `json:"version"`
	Uses    int      `json:"uses"`
	Wins    int      `json:"wins"`
	Tags    []string `json:"tags"`
	// Check is a shell command that verifies the skill. Nothing here runs it.
	Check     string    `json:"check,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// BodyBytes is the length of the body.
	BodyBytes int `json:"body_bytes"`
	// Body is the text, byte for byte. Lists leave it out.
	Body *string `json:"body,omitempty"`
	// Incomplete says that the body is not here yet, and shows as empty.
	Incomplete bool `json:"incomplete,omitempty"`
	Gated
	Envelope
}

// SkillReply is one skill with its body.
type SkillReply struct {
	SchemaVersion int `json:"schema_version"`
	Skill
}

// SkillList is every skill that was asked for, by slug, without bodies.
type SkillList struct {
	SchemaVersion int     `json:"schema_version"`
	Skills        []Skill `json:"skills"`
	// NextCursor is that of MemoryList.
	NextCursor string `json:"next_cursor,omitempty"`
}

// SkillWrite creates the skill of a slug and scope, or replaces its content.
type SkillWrite struct {
	// ID is a chosen id for a new skill; empty derives one.
	ID    string   `json:"id,omitempty"`
	Name  string   `json:"name,omitempty"`
	Body  string   `json:"body"`
	Tags  []string `json:"tags,omitempty"`
	Scope Scope    `json:"scope,omitzero"`
	Check string   `json:"check,omitempty"`
	Token
}

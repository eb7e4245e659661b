package state

import (
	"math"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// The longest numbers and times that stamping may add to a body.
const longestVersion = math.MaxUint32

func longestTime() time.Time { return time.Unix(0, math.MaxInt64).UTC() }

// SkillRoom returns by how many bytes the body of a skill may grow; a negative
// result is by how many it is too long. The other fields count too. It looks at
// no store, so that many skills can be judged before the first is written, and
// assumes a derived id when ID is empty. Errors: ErrInvalid, as Upsert.
func SkillRoom(sk Skill) (int, error) {
	sk, err := normalSkill(sk)
	if err != nil {
		return 0, err
	}
	if sk.ID == "" {
		sk.ID = SkillID(sk.Scope, sk.Slug)
	}
	sk.Version, sk.CreatedAt, sk.UpdatedAt = longestVersion, longestTime(), longestTime()
	return room(skillBodyOf(sk), sk.Body)
}

// MemoryRoom is SkillRoom for the content of a memory item.
func MemoryRoom(it MemoryItem) (int, error) {
	it, err := normalMemory(it)
	if err != nil {
		return 0, err
	}
	it.CreatedAt = longestTime()
	return room(memoryBodyOf(it), it.Content)
}

// TurnRoom is SkillRoom for the content of a turn.
func TurnRoom(t Turn) (int, error) {
	t, err := normalTurn(t)
	if err != nil {
		return 0, err
	}
	t.CreatedAt, t.Seq = longestTime(), math.MaxInt64
	return room(turnBodyOf(t), t.Content)
}

// room is what content may grow by. It is a blob where the body has no room for it,
// so that only the other fields fill the body.
func room(body any, content string) (int, error) {
	bytes, err := merge.Marshal(body)
	if err != nil {
		return 0, err
	}
	if beside := len(bytes) - len(content); beside > merge.BodyBytesMax {
		return merge.BodyBytesMax - beside, nil
	}
	return ContentBytesMax - len(content), nil
}

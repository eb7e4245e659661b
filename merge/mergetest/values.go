package mergetest

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// WallBase is about where the stamps of generated histories lie, in
// milliseconds since 1970: in the year 2026.
const WallBase = 1_790_000_000_000

// Component draws what one part of an id or of a scope may be: 1 to 256 bytes
// of text without control characters, now and then as long as it may be.
func Component() *rapid.Generator[string] {
	const bytesMax = 256
	printable := rapid.RuneFrom([]rune("aZ09-_./ ~é漢字🛰\u00a0\u200d\ufeff"))
	return rapid.OneOf(
		rapid.StringMatching(`[a-z][a-z0-9-]{0,11}`),
		rapid.StringOfN(printable, 1, -1, bytesMax),
		rapid.Just(strings.Repeat("x", bytesMax)),
	)
}

// Scope draws scopes; half of them are global.
func Scope() *rapid.Generator[merge.Scope] {
	field := rapid.OneOf(rapid.Just(""), Component())
	return rapid.OneOf(
		rapid.Just(merge.Scope{}),
		rapid.Custom(func(t *rapid.T) merge.Scope {
			return merge.Scope{
				Instance:  field.Draw(t, "instance"),
				Project:   field.Draw(t, "project"),
				Workspace: field.Draw(t, "workspace"),
			}
		}),
	)
}

// Kind draws kinds, known and unknown ones, of 1 to 64 bytes.
func Kind() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"skill", "skill.outcome", "memory", "session.turn", "fleet.grant"}),
		rapid.StringMatching(`[a-z]{1,8}(\.[a-z]{1,8}){0,2}`),
		rapid.Just(strings.Repeat("k", 64)),
	)
}

// Key draws valid keys.
func Key() *rapid.Generator[merge.Key] {
	return rapid.Custom(func(t *rapid.T) merge.Key {
		return merge.Key{
			Kind:  Kind().Draw(t, "kind"),
			Scope: Scope().Draw(t, "scope"),
			ID:    merge.NewID(rapid.SliceOfN(Component(), 1, 4).Draw(t, "id")...),
		}
	})
}

// Section draws valid sections.
func Section() *rapid.Generator[merge.Section] {
	return rapid.Map(Key(), merge.Key.Section)
}

// InstanceID draws valid ids: of keys, and texts of 1 to 128 bytes.
func InstanceID() *rapid.Generator[merge.InstanceID] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) merge.InstanceID {
			return merge.InstanceOf(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		}),
		rapid.Map(rapid.StringMatching(`[A-Za-z0-9 é字-]{1,40}`), func(s string) merge.InstanceID {
			return merge.InstanceID(s)
		}),
	)
}

// Stamp draws valid stamps but zero: close to WallBase, where they meet, and
// anywhere.
func Stamp() *rapid.Generator[hlc.Timestamp] {
	return rapid.OneOf(
		closeStamp(),
		rapid.Custom(func(t *rapid.T) hlc.Timestamp {
			return hlc.Timestamp{
				Wall:    rapid.Int64Range(1, hlc.WallMax).Draw(t, "wall"),
				Counter: rapid.Uint16().Draw(t, "counter"),
			}
		}),
	)
}

// closeStamp draws one of twelve stamps at WallBase.
func closeStamp() *rapid.Generator[hlc.Timestamp] {
	return rapid.Custom(func(t *rapid.T) hlc.Timestamp {
		return hlc.Timestamp{
			Wall:    WallBase + rapid.Int64Range(0, 3).Draw(t, "ms"),
			Counter: rapid.Uint16Range(0, 2).Draw(t, "counter"),
		}
	})
}

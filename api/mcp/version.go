package mcp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
)

// versionNone as if_version makes a write create only.
const versionNone = "none"

// versionArgument is what makes a write conditional.
func versionArgument() argument {
	return argument{name: "if_version", form: formVersion, about: "The version that you read. The write is refused, and the current record returned, " +
		`when somebody else wrote in between. "none" only creates. Leave it out to write whatever is there.`}
}

// versionOf names one version of a record: its sync version, stamp and writer.
func versionOf(e state.Envelope) string {
	return strings.Join([]string{strconv.FormatInt(e.SyncVersion, 10), e.UpdatedHLC.String(), e.LastWriterID}, "@")
}

// token reads if_version. The number in front alone is enough. Errors: a
// *wire.Problem.
func (v values) token() (state.Envelope, error) {
	text := v.text("if_version")
	switch text {
	case "":
		return state.Envelope{}, nil
	case versionNone:
		return state.Envelope{SyncVersion: state.MustNotExist}, nil
	}
	wrong := func() (state.Envelope, error) {
		return state.Envelope{}, api.NewProblem(wire.CodeInvalid, fmt.Sprintf(`if_version is %.80q, no version: take that of a result as it is, or "none"`, text))
	}
	parts := strings.SplitN(text, "@", 3)
	n, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || n < 1 || len(parts) == 2 {
		return wrong()
	}
	e := state.Envelope{SyncVersion: n}
	if len(parts) == 3 {
		if e.UpdatedHLC, err = hlc.Parse(parts[1]); err != nil {
			return wrong()
		}
		e.LastWriterID = parts[2]
	}
	return e, nil
}

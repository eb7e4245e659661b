package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// PatienceQuery is the parameter of requests that take long. It is exported for
// huma, which looks at exported fields alone.
type PatienceQuery struct {
	TimeoutMS int `query:"timeout_ms" minimum:"1" doc:"How long the daemon may take, in milliseconds; at most, and when absent, an hour."`

	timeout time.Duration
}

// Resolve implements huma.Resolver: it gives a request more time than others
// have, as long as it asks for.
func (q *PatienceQuery) Resolve(ctx huma.Context) []error {
	q.timeout = verifyTimeout
	if q.TimeoutMS > 0 && q.TimeoutMS < int(verifyTimeout.Milliseconds()) {
		q.timeout = time.Duration(q.TimeoutMS) * time.Millisecond
	}
	_, w := humago.Unwrap(ctx)
	// A writer without deadlines needs no other.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(q.timeout + writeTimeout))
	return nil
}

type verifyInput struct{ PatienceQuery }

type verifyOutput struct{ Body wire.Verification }

// verify proves the store of the node.
func (a about) verify(ctx context.Context, in *verifyInput) (*verifyOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, in.timeout)
	defer cancel()
	v, err := a.backend.Verify(ctx)
	if err != nil {
		return nil, err
	}
	v.SchemaVersion = wire.SchemaVersion
	return &verifyOutput{v}, nil
}

type compareInput struct {
	Members []string `query:"member,explode" doc:"The name or id of a member to compare with, each in a parameter of its own; all others when absent."`
	PatienceQuery
}

type compareOutput struct{ Body wire.Comparison }

// compare compares with other members.
func (a about) compare(ctx context.Context, in *compareInput) (*compareOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, in.timeout)
	defer cancel()
	c, err := a.backend.Compare(ctx, in.Members)
	if err != nil {
		return nil, err
	}
	c.SchemaVersion = wire.SchemaVersion
	return &compareOutput{c}, nil
}

func (b nodeBackend) Verify(ctx context.Context) (wire.Verification, error) {
	v, err := b.node.Verify(ctx)
	if err != nil {
		return wire.Verification{}, nodeProblem(err)
	}
	return VerificationOf(v), nil
}

// VerificationOf shows what a node has found, for a program that has opened the
// node itself.
func VerificationOf(v node.Verification) wire.Verification {
	return wire.Verification{
		SchemaVersion: wire.SchemaVersion, OK: len(v.Faults) == 0, Records: v.Records, Faults: append([]string{}, v.Faults...),
	}
}

func (b nodeBackend) Compare(ctx context.Context, names []string) (wire.Comparison, error) {
	list, err := b.node.Compare(ctx, names)
	if err != nil {
		return wire.Comparison{}, nodeProblem(err)
	}
	out := wire.Comparison{Members: make([]wire.ComparedMember, 0, len(list))}
	for i := range list {
		out.Members = append(out.Members, b.compared(&list[i]))
	}
	out.Equal = isEqual(out.Members)
	return out, nil
}

// isEqual reports whether all members that were compared are equal, and there
// was one, or there are none.
func isEqual(members []wire.ComparedMember) bool {
	compared := 0
	for _, m := range members {
		switch m.Result {
		case wire.ResultDiffers, wire.ResultChanging:
			return false
		case wire.ResultEqual:
			compared++
		}
	}
	return compared > 0 || len(members) == 0
}

func (b nodeBackend) compared(c *node.Compared) wire.ComparedMember {
	m := wire.ComparedMember{
		ID: c.ID.String(), Name: c.Name, Result: wire.ResultEqual, Why: c.Unfinished,
		Sections: make([]wire.ComparedSection, 0, len(c.Sections)),
	}
	if c.Unfinished != "" {
		m.Result = wire.ResultUnasked
	}
	for i := range c.Sections {
		s := &c.Sections[i]
		switch {
		case s.Outcome == fleetsync.OutcomeEqual, s.Outcome == fleetsync.OutcomeNotShared:
		case s.Outcome != fleetsync.OutcomeChanging:
			m.Result = wire.ResultDiffers
		case m.Result != wire.ResultDiffers:
			m.Result = wire.ResultChanging
		}
		m.Sections = append(m.Sections, wire.ComparedSection{
			Family: s.Section.Family, Scope: wireScope(s.Section.Scope), Outcome: strings.ReplaceAll(string(s.Outcome), " ", "_"),
			Here: s.Here, There: s.There, First: b.difference(s.First),
		})
	}
	return m
}

func (b nodeBackend) difference(d *fleetsync.Difference) *wire.Difference {
	if d == nil {
		return nil
	}
	list := func(versions []fleetsync.HeldVersion) []wire.HeldVersion {
		out := make([]wire.HeldVersion, 0, len(versions))
		for _, v := range versions {
			out = append(out, wire.HeldVersion{
				WriterID: v.Writer.String(), Writer: b.node.NameOf(v.Writer), HLC: v.Stamp.String(), Parked: v.Parked,
			})
		}
		return out
	}
	return &wire.Difference{Kind: d.Key.Kind, Key: KeyText(d.Key.ID), OnlyHere: list(d.OnlyHere), OnlyThere: list(d.OnlyThere)}
}

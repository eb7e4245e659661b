package fleet_test

import (
	"fmt"
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

func TestJudgeSaysWhyARecordIsNotAdmitted(t *testing.T) {
	s := newSmall(t)
	timed, scoped, reader := newIdentity(t, 5), newIdentity(t, 6), newIdentity(t, 7)
	learn(t, s.authority,
		grant(t, s.fleet, s.admin, fleet.Grant{
			Member: timed.ID(), Name: "timed", Role: fleet.RoleMember, Capabilities: []string{"skill"}, Issued: at(100), Expires: at(200),
		}, at(20)),
		grant(t, s.fleet, s.admin, fleet.Grant{
			Member: scoped.ID(), Name: "scoped", Role: fleet.RoleMember, Capabilities: []string{"*"},
			Scopes: []merge.Scope{{Project: "web"}, {Project: "api", Workspace: "blue"}, {Instance: "here", Project: "ops"}},
		}, at(21)),
		grant(t, s.fleet, s.admin, fleet.Grant{Member: reader.ID(), Name: "reader", Role: fleet.RoleMember}, at(22)),
	)
	key := func(kind, project, workspace string) merge.Key {
		return merge.Key{Kind: kind, Scope: merge.Scope{Project: project, Workspace: workspace}, ID: "x"}
	}
	for what, c := range map[string]struct {
		writer fleet.Identity
		key    merge.Key
		ms     int64
		want   string
	}{
		"a member writes what it may":                        {s.member, key("skill", "", ""), 10, "admitted"},
		"a kind within a family that it may":                 {s.member, key("skill.outcome", "any", "where"), 99, "admitted"},
		"a stranger writes":                                  {newIdentity(t, 9), key("skill", "", ""), 99, "not admitted: no grant for this writer"},
		"the root key writes":                                {s.root, key("skill", "", ""), 99, "not admitted: no grant for this writer"},
		"a family that the grant lacks":                      {s.member, key("weather", "", ""), 99, "not admitted: grant lacks weather"},
		"a family that begins like one that it has":          {s.member, key("skills", "", ""), 99, "not admitted: grant lacks skills"},
		"a stamp before the grant":                           {s.member, key("skill", "", ""), 9, "not admitted: before its grant"},
		"the first stamp of a grant":                         {timed, key("skill", "", ""), 100, "admitted"},
		"the stamp before it, though the statement is older": {timed, key("skill", "", ""), 99, "not admitted: before its grant"},
		"the last stamp of a grant":                          {timed, key("skill", "", ""), 199, "admitted"},
		"the stamp at which it expires":                      {timed, key("skill", "", ""), 200, "not admitted: expired"},
		"a scope that is granted":                            {scoped, key("skill", "web", ""), 99, "admitted"},
		"a workspace within a granted project":               {scoped, key("skill", "web", "red"), 99, "admitted"},
		"the second of two scopes":                           {scoped, key("skill", "api", "blue"), 99, "admitted"},
		"another workspace than the granted one":             {scoped, key("skill", "api", "red"), 99, "not admitted: outside its scopes"},
		"the project of a granted workspace":                 {scoped, key("skill", "api", ""), 99, "not admitted: outside its scopes"},
		"the project of a granted instance":                  {scoped, key("skill", "ops", ""), 99, "not admitted: outside its scopes"},
		"the global scope when scopes are granted":           {scoped, key("skill", "", ""), 99, "not admitted: outside its scopes"},
		"any family under *":                                 {scoped, key("weather.today", "web", ""), 99, "admitted"},
		"a reader writes":                                    {reader, key("memory", "", ""), 99, "not admitted: grant lacks memory"},
		"an admin writes any family and scope":               {s.admin, key("weather", "any", "where"), 99, "admitted"},
		"an admin before it was one":                         {s.admin, key("skill", "", ""), -1, "not admitted: before its grant"},
	} {
		t.Run(what, func(t *testing.T) {
			if got := s.authority.Judge(write(t, s.fleet, c.writer, c.key, at(c.ms))).String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestJudgeOfStatements(t *testing.T) {
	s := newSmall(t)
	timed, new := newIdentity(t, 5), newIdentity(t, 6)
	learn(t, s.authority, grant(t, s.fleet, s.root, fleet.Grant{
		Member: timed.ID(), Name: "timed", Role: fleet.RoleAdmin, Issued: at(10), Expires: at(15),
	}, at(5)))
	member := fleet.Grant{Member: new.ID(), Name: "new", Role: fleet.RoleMember, Capabilities: []string{"*"}}
	admin := fleet.Grant{Member: new.ID(), Name: "new", Role: fleet.RoleAdmin}
	laid := fleet.Floor{Section: merge.Section{Family: "skill"}, Entries: entries(1, at(1))}
	unknownRole := map[int]any{3: new.ID(), 4: "x", 5: 7}
	learn(t, s.authority, grant(t, s.fleet, s.admin, fleet.Grant{
		Member: s.member.ID(), Name: "laptop", Role: fleet.RoleMember, Capabilities: []string{"*"},
	}, at(11)))
	for what, c := range map[string]struct {
		rec  *merge.Record
		want string
	}{
		"root grants an admin":                       {grant(t, s.fleet, s.root, admin, at(30)), "admitted"},
		"root grants a member":                       {grant(t, s.fleet, s.root, member, at(30)), "admitted"},
		"an admin grants a member":                   {grant(t, s.fleet, s.admin, member, at(30)), "admitted"},
		"an admin grants an admin":                   {grant(t, s.fleet, s.admin, admin, at(30)), "not admitted: only root grants admins"},
		"a member with every capability grants":      {grant(t, s.fleet, s.member, member, at(30)), "not admitted: issuer is not an admin"},
		"a stranger grants itself":                   {grant(t, s.fleet, new, member, at(30)), "not admitted: issuer is not an admin"},
		"an admin before its time":                   {grant(t, s.fleet, timed, member, at(9)), "not admitted: before its grant"},
		"an admin in its time":                       {grant(t, s.fleet, timed, member, at(14)), "admitted"},
		"an admin after its time":                    {grant(t, s.fleet, timed, member, at(15)), "not admitted: expired"},
		"a role of the future, by an admin":          {statement(t, s.fleet, s.admin, "fleet.grant", body(s.admin, unknownRole), nil), "not admitted: unknown role"},
		"a role of the future, by root":              {statement(t, s.fleet, s.root, "fleet.grant", body(s.root, unknownRole), nil), "not admitted: unknown role"},
		"a kind of the future, by root":              {statement(t, s.fleet, s.root, "fleet.oath", body(s.root, nil), nil), "admitted"},
		"a kind of the future, by an admin":          {statement(t, s.fleet, s.admin, "fleet.oath", body(s.admin, nil), nil), "admitted"},
		"a kind of the future, by a late admin":      {statement(t, s.fleet, timed, "fleet.oath", body(timed, nil), nil), "not admitted: expired"},
		"a kind of the future, by a member with *":   {statement(t, s.fleet, s.member, "fleet.oath", body(s.member, nil), nil), "not admitted: issuer is not an admin"},
		"a kind that is the family, by a stranger":   {statement(t, s.fleet, new, "fleet", body(new, nil), nil), "not admitted: issuer is not an admin"},
		"a ban by root":                              {ban(t, s.fleet, s.root, fleet.Ban{Writer: new.ID()}, at(30)), "admitted"},
		"a ban by an admin":                          {ban(t, s.fleet, s.admin, fleet.Ban{Writer: new.ID()}, at(30)), "admitted"},
		"a ban by a member with *":                   {ban(t, s.fleet, s.member, fleet.Ban{Writer: new.ID()}, at(30)), "not admitted: issuer is not an admin"},
		"a withdrawal by a member with *":            {ban(t, s.fleet, s.member, fleet.Ban{Kind: "skill", Digest: merge.Hash{1}}, at(30)), "not admitted: issuer is not an admin"},
		"a withdrawal by a late admin":               {ban(t, s.fleet, timed, fleet.Ban{Kind: "skill", Digest: merge.Hash{1}}, at(30)), "not admitted: expired"},
		"a floor by an admin":                        {floor(t, s.fleet, s.admin, laid, at(month+30)), "admitted"},
		"a floor by a member with *":                 {floor(t, s.fleet, s.member, laid, at(month+30)), "not admitted: issuer is not an admin"},
		"a succession by a member":                   {succession(t, s.fleet, s.member, new, at(30)), "admitted"},
		"a succession by an admin":                   {succession(t, s.fleet, s.admin, new, at(30)), "admitted"},
		"a succession by a stranger":                 {succession(t, s.fleet, newIdentity(t, 8), new, at(30)), "not admitted: no grant for this writer"},
		"an admin of another fleet's root, by stamp": {grant(t, s.fleet, newIdentity(t, 8), admin, at(30)), "not admitted: issuer is not an admin"},
	} {
		t.Run(what, func(t *testing.T) {
			if err := fleet.Check(c.rec, s.fleet); err != nil {
				t.Fatal(err)
			}
			if got := s.authority.Judge(c.rec).String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSeveralGrantsAddUpButNotWithinOneRecord(t *testing.T) {
	s := newSmall(t)
	m := newIdentity(t, 5)
	learn(t, s.authority,
		grant(t, s.fleet, s.admin, fleet.Grant{
			Member: m.ID(), Name: "m", Role: fleet.RoleMember, Capabilities: []string{"skill"}, Issued: at(0), Expires: at(100),
		}, at(20)),
		grant(t, s.fleet, s.admin, fleet.Grant{
			Member: m.ID(), Name: "m", Role: fleet.RoleMember, Capabilities: []string{"memory"}, Issued: at(100),
			Scopes: []merge.Scope{{Project: "web"}},
		}, at(21)),
		grant(t, s.fleet, s.admin, fleet.Grant{
			Member: m.ID(), Name: "m", Role: fleet.RoleMember, Capabilities: []string{"skill"}, Issued: at(0),
			Scopes: []merge.Scope{{Project: "api"}},
		}, at(22)),
	)
	web := merge.Scope{Project: "web"}
	for _, c := range []struct {
		kind  string
		scope merge.Scope
		ms    int64
		want  string
	}{
		{"skill", merge.Scope{}, 50, "admitted"},
		{"memory", web, 150, "admitted"},
		{"skill", merge.Scope{}, 150, "not admitted: expired"},
		{"memory", web, 50, "not admitted: before its grant"},
		{"memory", merge.Scope{}, 150, "not admitted: outside its scopes"},
		{"session", web, 50, "not admitted: grant lacks session"},
	} {
		t.Run(fmt.Sprintf("%s in %s at %d", c.kind, c.scope, c.ms), func(t *testing.T) {
			rec := write(t, s.fleet, m, merge.Key{Kind: c.kind, Scope: c.scope, ID: "x"}, at(c.ms))
			if got := s.authority.Judge(rec).String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	// A later grant reaches back and closes the gap: nothing that was parked is lost.
	learn(t, s.authority, grant(t, s.fleet, s.admin, fleet.Grant{
		Member: m.ID(), Name: "m", Role: fleet.RoleMember, Capabilities: []string{"skill"}, Issued: at(100),
	}, at(500)))
	if j := s.authority.Judge(write(t, s.fleet, m, merge.Key{Kind: "skill", ID: "x"}, at(150))); !j.Admitted {
		t.Errorf("a write in the gap: %s", j)
	}
}

package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// lackMax is how many lacks a message names. More are counted: whoever reads it
// begins with one.
const lackMax = 3

// lack is what a member lacks: versions of a section of which another is the
// first holder.
type lack struct {
	replica int
	section merge.Section
	holder  int
}

// heldVersion is one version and who holds it.
type heldVersion struct {
	merge.Version
	holders replicaSet
}

// lacking says which members lack what, empty when nobody lacks anything. What is
// replaced by what another member holds is owed to nobody.
func (c *Cluster) lacking(members []*Replica) (string, error) {
	shared := c.sharing(members)
	held := map[merge.Key][]*heldVersion{}
	for _, r := range members {
		err := r.eachHeld(func(k merge.Key, v store.Held) {
			if shared(k.Section()) {
				held[k] = c.holds(held[k], v.Version, r)
			}
		})
		if err != nil {
			return "", err
		}
	}
	found := map[lack]int{}
	for k, versions := range held {
		for _, v := range versions {
			if !slices.ContainsFunc(versions, func(w *heldVersion) bool { return w != v && merge.Covers(w.Version, v.Version) }) {
				noteLack(found, members, k.Section(), v)
			}
		}
	}
	return describeLacks(found), nil
}

// holds notes that a replica holds a version.
func (c *Cluster) holds(versions []*heldVersion, version merge.Version, r *Replica) []*heldVersion {
	at := slices.IndexFunc(versions, func(v *heldVersion) bool { return v.Hash == version.Hash })
	if at < 0 {
		at = len(versions)
		versions = append(versions, &heldVersion{version, newReplicaSet(len(c.replicas))})
	}
	versions[at].holders.add(r.number)
	return versions
}

func noteLack(found map[lack]int, members []*Replica, section merge.Section, v *heldVersion) {
	has := func(r *Replica) bool { return v.holders.has(r.number) }
	holder := members[slices.IndexFunc(members, has)].number
	for _, r := range members {
		if !has(r) {
			found[lack{r.number, section, holder}]++
		}
	}
}

// describeLacks names the largest lacks first, the same in each run.
func describeLacks(found map[lack]int) string {
	all := slices.SortedFunc(maps.Keys(found), func(a, b lack) int {
		return cmp.Or(found[b]-found[a], a.replica-b.replica, strings.Compare(a.section.String(), b.section.String()), a.holder-b.holder)
	})
	var parts []string
	for _, l := range all[:min(len(all), lackMax)] {
		noun := "versions"
		if found[l] == 1 {
			noun = "version"
		}
		parts = append(parts, fmt.Sprintf("replica %d lacks %d %s of %s that replica %d holds", l.replica, found[l], noun, l.section, l.holder))
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

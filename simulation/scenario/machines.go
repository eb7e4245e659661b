package scenario

import (
	"fmt"
	"slices"
)

// order are the sites as their agents are numbered: that of the hub first, since
// it is replica 0 that everybody meets at, then as they are listed.
func (s *Scenario) order() []int {
	order := make([]int, len(s.Sites))
	for i := range order {
		order[i] = i
	}
	if hub := s.site(s.Hub); s.Hub != "" && hub > 0 {
		order = slices.Insert(slices.Delete(order, hub, hub+1), 0, hub)
	}
	return order
}

// Machines are what people may call the agents, by the number of their replica:
// by their site, and where a site has several with their place in it.
func (s *Scenario) Machines() []string {
	var names []string
	for _, i := range s.order() {
		site := &s.Sites[i]
		if site.Agents == 1 {
			names = append(names, site.Name)
			continue
		}
		for n := range site.Agents {
			names = append(names, fmt.Sprintf("%s %d", site.Name, n+1))
		}
	}
	return names
}

package simulation

// ByRoute returns what was sent so far by the part of the protocol that it
// belongs to: frames of engines, and each hop of a gossip message.
func (c *Cluster) ByRoute() map[Route]Traffic {
	routes := map[Route]Traffic{RouteGossip: c.network.hops}
	for m, t := range c.observer.traffic {
		route, _ := routeOf(m)
		routes[route] = routes[route].add(t.Messages, t.Bytes)
	}
	return routes
}

func (t Traffic) add(messages int, bytes int64) Traffic {
	return Traffic{Messages: t.Messages + messages, Bytes: t.Bytes + bytes}
}

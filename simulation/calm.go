package simulation

import "time"

// Calm returns a plan in which nothing happens and nothing goes wrong: a mesh
// of replicas that know each other as members, with the intervals of a node
// that was not configured.
func Calm(seed uint64, replicas int) Plan {
	return Plan{
		Seed: seed, Replicas: replicas, Topology: Mesh, Gossip: true,
		HeartbeatEvery: 10 * time.Second, RequestTimeout: 10 * time.Second, TickEvery: 250 * time.Millisecond,
		Weather: calm(), Skews: make([]time.Duration, replicas), Grants: make([]GrantMode, replicas),
		Withheld: make([]string, replicas),
	}
}

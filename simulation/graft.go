package simulation

// streamGraft are the dice of the gossip mesh.
const streamGraft uint64 = 1<<61 + 1

// tend keeps the gossip mesh as gossipsub does each second: who has too few
// partners takes some of its connections at random, who has too many lets some
// go. The other side agrees.
func (n *Network) tend() {
	if n.degree == 0 {
		return
	}
	few, many := n.degree-n.degree/3, 2*n.degree
	for number := range n.ends {
		var in, out []*pair
		for _, p := range n.of[number] {
			switch {
			case !p.up:
			case p.grafted:
				in = append(in, p)
			default:
				out = append(out, p)
			}
		}
		switch {
		case len(in) < few:
			graft(shuffled(n.grafts, out), n.degree-len(in), true)
		case len(in) > many:
			graft(shuffled(n.grafts, in), len(in)-n.degree, false)
		}
	}
}

// graft lets gossip pass on the first of those pairs, or no longer.
func graft(pairs []*pair, count int, grafted bool) {
	for _, p := range pairs[:min(count, len(pairs))] {
		p.grafted = grafted
	}
}

package fleet

// name gives every member its name. A lineage has that of its newest grant, and
// its newest key holds it. Of several lineages that have one, who was first
// granted it keeps it; the others, and the older keys of all, are shown with a
// suffix.
func (s *snapshot) name(inForce []*stated) {
	granted := map[*standing]string{} // by the newest key of a lineage
	for _, st := range inForce {
		if st.topic == topicGrant {
			granted[s.keys[st.grant.Member].newest()] = st.grant.Name
		}
	}
	var later []*standing
	named := map[*standing]bool{}
	for _, st := range inForce {
		if st.topic != topicGrant {
			continue
		}
		k := s.keys[st.grant.Member].newest()
		if named[k] || granted[k] != st.grant.Name {
			continue
		}
		named[k] = true
		if k.Name = st.grant.Name; s.names[k.Name] == nil {
			s.names[k.Name] = k
		} else {
			later = append(later, k)
		}
		for old := k.predecessor; old != nil; old = old.predecessor {
			old.Name = k.Name
			later = append(later, old)
		}
	}
	for _, k := range later {
		k.Name = s.suffixed(k)
		s.names[k.Name] = k
	}
}

// suffixed returns the member's name with as much of the end of its id, six
// characters or more, as makes it unique.
func (s *snapshot) suffixed(k *standing) string {
	id := k.ID.String()
	for n := 6; n < len(id); n++ {
		name := k.Name + suffixMark + id[len(id)-n:]
		if s.names[name] == nil {
			return name
		}
	}
	return k.Name + suffixMark + id
}

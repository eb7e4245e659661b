package setup

// Entry is one entry of an agent, for tests of the editors below the files.
type Entry struct{ e entry }

// EntriesOf returns the entries of every file of an agent.
func EntriesOf(a Agent, p Place, r Run) (files [][]Entry) {
	list, _ := a.files(p, r)
	for _, f := range list {
		if f.left {
			continue
		}
		var entries []Entry
		for _, e := range f.entries {
			entries = append(entries, Entry{e})
		}
		files = append(files, entries)
	}
	return files
}

// Block is the block of an agent without a hook.
func Block(agent string) Entry { return Entry{startBlock(agent)} }

// Put adds an entry to a text, nil for a file that is not there.
func (e Entry) Put(text []byte) ([]byte, error) {
	after, err := e.e.put(content{text, text != nil})
	return bytesOf(after), err
}

// Remove takes an entry out.
func (e Entry) Remove(text []byte) ([]byte, error) {
	after, err := e.e.remove(content{text, text != nil})
	return bytesOf(after), err
}

// Write makes a file hold will if it holds was; nil stands for no file.
func Write(path string, was, will []byte) error {
	return write(path, content{was, was != nil}, content{will, will != nil})
}

func bytesOf(c content) []byte {
	if c.exists && c.text == nil {
		return []byte{}
	}
	return c.text
}

// State tells what a text has of an entry.
func (e Entry) State(text []byte) (State, error) {
	state, _, err := e.e.find(text)
	return state, err
}

// DecodeTOML reads a document.
func DecodeTOML(text []byte) (map[string]any, error) { return decodeTOML(text) }

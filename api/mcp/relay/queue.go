package relay

// waiting is a line that waits, with the messages of the client in it; the
// relay's own have none.
type waiting struct {
	line     []byte
	messages []message
}

// queue is lines that wait, in their order.
type queue struct {
	lines []waiting
	bytes int
}

func (q *queue) add(line []byte, messages []message) {
	q.lines = append(q.lines, waiting{line, messages})
	q.bytes += len(line)
}

// isFull reports whether the bounds are reached.
func (q *queue) isFull() bool { return len(q.lines) >= queueMax || q.bytes >= queueBytesMax }

// take empties the queue.
func (q *queue) take() []waiting {
	lines := q.lines
	q.lines, q.bytes = nil, 0
	return lines
}

// pop takes the first.
func (q *queue) pop() waiting {
	first := q.lines[0]
	q.lines = q.lines[1:]
	q.bytes -= len(first.line)
	return first
}

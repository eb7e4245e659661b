package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The methods that the relay knows.
const (
	methodInitialize   = "initialize"
	methodInitialized  = "notifications/initialized"
	methodSubscribe    = "resources/subscribe"
	methodUnsubscribe  = "resources/unsubscribe"
	methodListen       = "subscriptions/listen"
	methodAcknowledged = "notifications/subscriptions/acknowledged"
	methodCancelled    = "notifications/cancelled"
	methodUpdated      = "notifications/resources/updated"
	methodCall         = "tools/call"
	methodPing         = "ping"
	// metaSubscription is where a notice says which listening it belongs to.
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// message is what the relay reads of one.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Error   json.RawMessage `json:"error"`
}

// isRequest, isAnswer: what a message is. What is neither is a notification.
func (m *message) isRequest() bool { return m.Method != "" && m.key() != "" }
func (m *message) isAnswer() bool  { return m.Method == "" && m.key() != "" }

// isSound reports whether it is a message at all.
func (m *message) isSound() bool { return m.JSONRPC == "2.0" && (m.Method != "" || m.key() != "") }

// key is the id as text that is the same however it was written; empty without
// one.
func (m *message) key() string { return keyOf(m.ID) }

func keyOf(id json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(id))
	dec.UseNumber()
	if len(id) == 0 || dec.Decode(&v) != nil || v == nil {
		return ""
	}
	return fmt.Sprintf("%T %v", v, v)
}

// params are what the relay reads of those of the methods that it knows.
type params struct {
	URI           string                     `json:"uri"`
	Name          string                     `json:"name"`
	RequestID     json.RawMessage            `json:"requestId"`
	Version       string                     `json:"protocolVersion"`
	Notifications notifications              `json:"notifications"`
	Meta          map[string]json.RawMessage `json:"_meta"`
}

// notifications are what a listening asks for, or is granted.
type notifications struct {
	ToolsListChanged      bool     `json:"toolsListChanged"`
	PromptsListChanged    bool     `json:"promptsListChanged"`
	ResourcesListChanged  bool     `json:"resourcesListChanged"`
	ResourceSubscriptions []string `json:"resourceSubscriptions"`
}

func (n *notifications) any() bool {
	return n.ToolsListChanged || n.PromptsListChanged || n.ResourcesListChanged || len(n.ResourceSubscriptions) > 0
}

// read reads the params; what has another form is as good as none.
func (m *message) read() params {
	var p params
	if len(m.Params) > 0 {
		_ = json.Unmarshal(m.Params, &p) // see above
	}
	return p
}

// parse reads the messages of a line: one, or those of a batch.
func parse(line []byte) ([]message, error) {
	if bytes.HasPrefix(line, []byte("[")) {
		var batch []message
		err := json.Unmarshal(line, &batch)
		return batch, err
	}
	var m message
	err := json.Unmarshal(line, &m)
	return []message{m}, err
}

// withID returns the line of a message with another id.
func withID(line []byte, id string) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	raw, err := json.Marshal(id)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	fields["id"] = raw
	return json.Marshal(fields)
}

// integerMax is the largest integer such that it and all before it are themselves in
// a float64, which JSON numbers are to most programs, the daemon too.
const integerMax = 1<<53 - 1

// hasID reports whether an id comes back from every program as it was sent: a
// string of whole characters, or an integer in its one form. A message without one
// has.
func (m *message) hasID() bool {
	var v any
	dec := json.NewDecoder(bytes.NewReader(m.ID))
	dec.UseNumber()
	if len(m.ID) == 0 || dec.Decode(&v) != nil {
		return true
	}
	switch v := v.(type) {
	case nil:
		return true
	case string:
		// What encoding/json cannot take it replaces.
		return !strings.Contains(v, replacement) || bytes.Contains(m.ID, []byte(replacement)) ||
			bytes.Contains(bytes.ToLower(m.ID), []byte(`\ufffd`))
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		return err == nil && n >= -integerMax && n <= integerMax && strconv.FormatInt(n, 10) == v.String()
	}
	return false
}

// whyNoID says what is wrong with an id that hasID does not take.
func (m *message) whyNoID() string {
	return fmt.Sprintf("the id %.60s would come back as another one: an id is a string, or an integer from -%d to %d without fraction and exponent",
		bytes.ToValidUTF8(m.ID, []byte("?")), integerMax, integerMax)
}

// RefuseID returns the answer to the first message of a text, which is one or a
// batch, of which the id would come back changed: a JSON-RPC error, Invalid Request.
// It is nil when there is none, and for what is no message in JSON at all, which
// whoever reads it refuses. It is for messages that come to the daemon without a
// relay.
func RefuseID(text []byte) []byte {
	messages, err := parse(bytes.TrimLeft(text, " \t\r\n"))
	if err != nil {
		return nil
	}
	for i := range messages {
		if m := &messages[i]; !m.hasID() {
			return errorLine(m.answerID(), rpcError{Code: codeInvalid, Message: m.whyNoID()})
		}
	}
	return nil
}

// replacement is U+FFFD.
const replacement = "\ufffd"

// answerID is the id that an error about the message names: its own, as it was
// sent, unless it is none at all.
func (m *message) answerID() json.RawMessage {
	if first := bytes.TrimSpace(m.ID); len(first) == 0 || !utf8.Valid(first) || bytes.ContainsAny(first[:1], "{[tfn") {
		return nil
	}
	return m.ID
}

// The codes of errors that the relay answers with.
const (
	codeParse = -32700
	// codeInvalid answers JSON that is no message.
	codeInvalid = -32600
	codeLost    = -32000 // the daemon went away
)

// rpcError is an error of JSON-RPC.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	// Data says whether the call may be repeated.
	Data *rpcErrorData `json:"data,omitempty"`
}

type rpcErrorData struct {
	Repeatable bool `json:"repeatable"`
}

// errorLine is the answer to a request that failed here.
func errorLine(id json.RawMessage, e rpcError) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	return mustLine(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, e})
}

// requestLine is a request with a uri, and updatedLine the notice that one
// changed; subscription is the id of the listening that it belongs to, if it does.
func requestLine(id, method, uri string) []byte {
	return mustLine(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": map[string]any{"uri": uri}})
}

func updatedLine(uri string, subscription json.RawMessage) []byte {
	p := map[string]any{"uri": uri}
	if len(subscription) > 0 {
		p["_meta"] = map[string]any{metaSubscription: subscription}
	}
	return mustLine(map[string]any{"jsonrpc": "2.0", "method": methodUpdated, "params": p})
}

// mustLine encodes what has nothing that JSON has not.
func mustLine(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return line
}

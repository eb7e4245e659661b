package secrets

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
)

// carrierRules are those of what carries a secret of any issuer.
func carrierRules() []Rule {
	return []Rule{
		{ID: "jwt", What: "a signed or encrypted JSON Web Token", Source: "RFC 7519, RFC 7515, RFC 7516", anchors: []string{"eyJ"}, find: findJWT},
		{ID: "url-password", What: "a password in an address or a connection string", Source: "RFC 3986, section 3.2.1", anchors: []string{"://"}, find: findURL},
		{ID: "bearer-token", What: "a token in an Authorization header", Source: "RFC 6750, section 2.1", fold: true, anchors: []string{"authorization"}, find: findBearer},
	}
}

// carried is 1 for the rules above, and 0 for those of issuers.
func carried(id string) int {
	switch id {
	case "jwt", "url-password", "bearer-token":
		return 1
	}
	return 0
}

const (
	// assignMax is how many bytes lie between a name and its value.
	assignMax = 8
	// valueBytesMax is more than such a value has.
	valueBytesMax = 4 << 10
)

// assigned finds a value that is given to the name which is the anchor: behind = or
// a colon, with or without quotes.
func assigned(value *regexp.Regexp) func(text string, at, anchorLen int) (start, end int, ok bool) {
	return func(text string, at, anchorLen int) (start, end int, ok bool) {
		start = skip(text, at+anchorLen, " \t\"'`:=>\\", assignMax)
		if start == at+anchorLen || !strings.ContainsAny(text[at+anchorLen:start], ":=") {
			return 0, 0, false
		}
		run := start
		for run < len(text) && run-start < valueBytesMax && isToken[text[run]] {
			run++
		}
		m := value.FindStringIndex(text[start:run])
		if m == nil || start+m[1] < run && isBase64[text[start+m[1]]] {
			return 0, 0, false
		}
		return start, start + m[1], true
	}
}

// skip returns where the bytes of a set end, after most of them at the latest.
func skip(text string, from int, set string, most int) int {
	to := from
	for to < len(text) && to-from < most && strings.IndexByte(set, text[to]) >= 0 {
		to++
	}
	return to
}

// headerBytesMax bounds the header of a token that is decoded.
const headerBytesMax = 4 << 10

var isBase64URL = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

// findJWT finds three or five parts in base64url, the first of which is a header that
// names an algorithm. One that is not signed is no secret.
func findJWT(text string, at, _ int) (start, end int, ok bool) {
	if b := before(text, at); isBase64URL[b] {
		return 0, 0, false
	}
	parts, end := partsOf(text, at)
	const signatureBytesMin, signed, encrypted = 16, 3, 5
	algorithm, isJWE := headerOf(parts[0])
	switch {
	case algorithm == "" || strings.EqualFold(algorithm, "none"):
		return 0, 0, false
	case isJWE && len(parts) == encrypted && len(parts[4]) >= signatureBytesMin:
	case !isJWE && len(parts) >= signed && parts[1] != "" && len(parts[2]) >= signatureBytesMin:
		end = at + len(parts[0]) + len(parts[1]) + len(parts[2]) + 2
	default:
		return 0, 0, false
	}
	return at, end, true
}

// partsOf returns up to five parts of base64url with dots between, and where the last
// of them ends.
func partsOf(text string, at int) (parts []string, end int) {
	const partsMax = 5
	for end = at; ; end++ {
		part := end
		for end < len(text) && isBase64URL[text[end]] {
			end++
		}
		parts = append(parts, text[part:end])
		if len(parts) == partsMax || end == len(text) || text[end] != '.' {
			return parts, end
		}
	}
}

// headerOf returns the algorithm that the header of a token names, and whether
// the token is encrypted; "" for what is no header.
func headerOf(part string) (algorithm string, isJWE bool) {
	if len(part) > headerBytesMax {
		return "", false
	}
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return "", false
	}
	var header struct {
		Alg string `json:"alg"`
		Enc string `json:"enc"`
	}
	if json.Unmarshal(raw, &header) != nil {
		return "", false
	}
	return header.Alg, header.Enc != ""
}

const (
	schemeBytesMax   = 24
	userBytesMax     = 256
	passwordBytesMax = 512
	passwordBytesMin = 3
)

// findURL finds the password of scheme://user:password@host.
func findURL(text string, at, anchorLen int) (start, end int, ok bool) {
	if at == 0 || !isWordByte[text[at-1]] || !isScheme(text[max(0, at-schemeBytesMax):at]) {
		return 0, 0, false
	}
	user := text[at+anchorLen:]
	colon := strings.IndexFunc(user[:min(len(user), userBytesMax)], isNoUser)
	if colon < 0 || user[colon] != ':' {
		return 0, 0, false
	}
	start = at + anchorLen + colon + 1
	password := text[start:min(len(text), start+passwordBytesMax)]
	end = start + strings.IndexFunc(password, func(r rune) bool { return isNoUser(r) && r != ':' })
	if end < start {
		return 0, 0, false
	}
	isPassword := end+1 < len(text) && text[end] == '@' && (isWordByte[text[end+1]] || text[end+1] == '[') &&
		end-start >= passwordBytesMin && !isPlaceholder(text[start:end])
	return start, end, isPassword
}

// isScheme reports whether a text ends in the name of a scheme.
func isScheme(text string) bool {
	begins := len(text)
	for begins > 0 && (isWordByte[text[begins-1]] || strings.IndexByte("+.-", text[begins-1]) >= 0) {
		begins--
	}
	name := text[begins:]
	return name != "" && (name[0] >= 'a' && name[0] <= 'z' || name[0] >= 'A' && name[0] <= 'Z')
}

// isNoUser finds what neither a user nor a password in an address has.
func isNoUser(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`:/?@"'<>\`+"`", r)
}

// findBearer finds the token in an Authorization header, as it stands in requests, in
// source text and in commands.
func findBearer(text string, at, anchorLen int) (start, end int, ok bool) {
	scheme := skip(text, at+anchorLen, " \t\"'`:=,\\(", assignMax)
	const word = "bearer"
	if scheme == at+anchorLen || len(text) < scheme+len(word) || !strings.EqualFold(text[scheme:scheme+len(word)], word) {
		return 0, 0, false
	}
	if start = skip(text, scheme+len(word), " \t", assignMax); start == scheme+len(word) {
		return 0, 0, false
	}
	for end = start; end < len(text) && isToken[text[end]] && text[end] != ':' && text[end] != '%'; {
		end++
	}
	const tokenBytesMin = 20
	token := text[start:end]
	isLetters := strings.ContainsAny(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return start, end, len(token) >= tokenBytesMin && hasDigit(token) && isLetters && !isPlaceholder(token)
}

// isPlaceholder reports whether a value is one that stands for another: a name of
// something to be filled in, or a word that examples have.
func isPlaceholder(value string) bool {
	if strings.ContainsAny(value, "<>{}*") || strings.HasPrefix(value, "$") || strings.HasPrefix(value, "%") || strings.Contains(value, "...") {
		return true
	}
	if strings.Trim(value, value[:1]) == "" { // xxxxxx
		return true
	}
	switch strings.ToLower(value) {
	case "password", "passwd", "pass", "pwd", "secret", "changeme", "change_me", "example", "user", "username", "token", "redacted":
		return true
	}
	return strings.HasPrefix(strings.ToLower(value), "your")
}

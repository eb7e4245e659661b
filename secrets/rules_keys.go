package secrets

import "strings"

// keyRules are private keys, in the forms in which programs write them.
func keyRules() []Rule {
	return []Rule{
		{
			ID: "private-key", What: "a private key (PEM, OpenSSH, PGP)", Source: "RFC 7468, RFC 4716, RFC 9580",
			anchors: []string{"-----BEGIN "}, find: findPEM,
		},
		{
			ID: "age-secret-key", What: "a secret key of age", Source: "https://age-encryption.org/v1",
			anchors: []string{"AGE-SECRET-KEY-1"}, pattern: form(`AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`),
		},
		{
			ID: "putty-private-key", What: "a private key of PuTTY", Source: "https://tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html",
			anchors: []string{"Private-Lines: "}, find: findPuTTY,
		},
		{
			ID: "fleetd-ticket", What: "an invitation to a fleet", Source: "fleet/ticket.go",
			anchors: []string{"fleet1"}, pattern: form(`fleet1[a-z2-7]{60,}`),
		},
	}
}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	pemLine  = "-----"
	// pemLabelBytesMax bounds the words between the dashes.
	pemLabelBytesMax = 64
	// pemKeyBytesMin is less base64 than the shortest key has: an example without
	// a key has none.
	pemKeyBytesMin = 40
)

// findPEM finds a private key from its first line on to its last, also where the
// line ends are written as \n, as in JSON, or where the end was cut off.
func findPEM(text string, at, anchorLen int) (start, end int, ok bool) {
	rest := text[at+anchorLen:]
	n := strings.Index(rest[:min(len(rest), pemLabelBytesMax)], pemLine)
	if n < 0 {
		return 0, 0, false
	}
	if label := rest[:n]; !strings.HasSuffix(label, "PRIVATE KEY") && !strings.HasSuffix(label, "PRIVATE KEY BLOCK") {
		return 0, 0, false
	}
	body := at + anchorLen + n + len(pemLine)
	end = body + keyLines(text[body:])
	n, last := longRuns(text[body:end])
	if n < pemKeyBytesMin {
		return 0, 0, false
	}
	if !strings.HasPrefix(text[end:], pemEnd) {
		return at, body + last, true
	}
	closing := text[end+len(pemEnd):]
	if n := strings.Index(closing[:min(len(closing), pemLabelBytesMax)], pemLine); n >= 0 {
		end += len(pemEnd) + n + len(pemLine)
	}
	return at, end, true
}

// keyLines returns how long the lines of a key are: base64, its headers, and what
// lies between lines where they stand in something else.
func keyLines(text string) int {
	for i := range len(text) {
		if text[i] == '-' && strings.HasPrefix(text[i:], pemLine) || !isKeyByte[text[i]] {
			return i
		}
	}
	return len(text)
}

var (
	isBase64  = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
	isKeyByte = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t\r\n\\\"',:;.-()@<>|#*")
)

// longRuns counts the bytes in runs of base64 that are long enough to be of a key
// and not of words beside it, and returns where the last of them ends.
func longRuns(text string) (n, last int) {
	const runMin = 16
	run := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isBase64[text[i]] {
			run++
			continue
		}
		if run >= runMin {
			n, last = n+run, i
		}
		run = 0
	}
	return n, last
}

// findPuTTY finds the lines of the private half of a key.
func findPuTTY(text string, at, anchorLen int) (start, end int, ok bool) {
	body := at + anchorLen
	for body < len(text) && text[body] >= '0' && text[body] <= '9' {
		body++
	}
	end = body
	for end < len(text) && (isBase64[text[end]] || strings.IndexByte(" \t\r\n", text[end]) >= 0) {
		end++
	}
	n, last := longRuns(text[body:end])
	return body, body + last, n >= pemKeyBytesMin
}

package secrets

import (
	"encoding/base64"
	"hash/crc32"
	"strings"
)

// codeRules are those of forges and package registries.
func codeRules() []Rule {
	const (
		github = "https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/"
		gitlab = "https://docs.gitlab.com/security/tokens/#token-prefixes"
	)
	return []Rule{
		{
			ID: "github-token", What: "a GitHub token", Source: github,
			anchors: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, pattern: form(`gh[oprsu]_[A-Za-z0-9]{36}`), check: hasChecksum,
		},
		{
			ID: "github-fine-grained-token", What: "a fine-grained GitHub token", Source: github,
			anchors: []string{"github_pat_"}, pattern: form(`github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`),
		},
		{
			ID: "github-installation-token", What: "a token of a GitHub App installation",
			Source:  "https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/",
			anchors: []string{"ghs_"}, pattern: form(`ghs_[0-9]+_eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`),
		},
		{
			ID: "gitlab-token", What: "a GitLab token", Source: gitlab, joins: "-",
			anchors: []string{
				"glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-",
			},
			pattern: form(`gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?`),
		},
		{
			ID: "npm-token", What: "an npm token", Source: "https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/",
			anchors: []string{"npm_"}, pattern: form(`npm_[A-Za-z0-9]{36}`), check: hasChecksum,
		},
		{
			ID: "pypi-token", What: "a PyPI token", Source: "https://pypi.org/help/#apitoken", joins: "-",
			anchors: []string{"pypi-"}, pattern: form(`pypi-Ag[A-Za-z0-9_-]{60,}={0,2}`), check: isPyPI,
		},
		{
			ID: "rubygems-key", What: "a RubyGems API key", Source: "https://guides.rubygems.org/api-key-scopes/",
			anchors: []string{"rubygems_"}, pattern: form(`rubygems_[a-f0-9]{48}`),
		},
		{
			ID: "docker-token", What: "a Docker Hub token", Source: "https://docs.docker.com/security/access-tokens/", joins: "-",
			anchors: []string{"dckr_pat_", "dckr_oat_"}, pattern: form(`dckr_[op]at_[A-Za-z0-9_-]{27,}`),
		},
		{
			ID: "atlassian-token", What: "an Atlassian API token", Source: "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/",
			anchors: []string{"ATATT3"}, joins: "-=", pattern: form(`ATATT3[A-Za-z0-9_=-]{60,}`),
		},
	}
}

// base62 are the digits of the checksum in tokens of GitHub and npm.
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// checksumDigits is how many they are.
const checksumDigits = 6

// hasChecksum reports whether a token of GitHub or npm ends in the CRC-32 of what
// stands between its prefix and the end.
func hasChecksum(token string) bool {
	_, token, _ = strings.Cut(token, "_")
	random, digits := token[:len(token)-checksumDigits], token[len(token)-checksumDigits:]
	return checksum(random) == digits
}

func checksum(random string) string {
	sum := crc32.ChecksumIEEE([]byte(random))
	digits := []byte("000000")
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits)
}

// isPyPI reports whether a token is a macaroon of PyPI, or of its test site: of
// version 2, with the site as its location.
func isPyPI(token string) bool {
	text := strings.TrimRight(strings.TrimPrefix(token, "pypi-"), "=")
	head, err := base64.RawURLEncoding.DecodeString(text[:len(text)/4*4])
	return err == nil && (strings.HasPrefix(string(head), "\x02\x01\x08pypi.org") || strings.HasPrefix(string(head), "\x02\x01\x0dtest.pypi.org"))
}

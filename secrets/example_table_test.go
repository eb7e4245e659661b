package secrets_test

import "strings"

// example is what a rule finds, and what it must leave. Secrets are written in
// parts, so that no scanner of repositories takes this file for a leak.
type example struct {
	found []string
	left  []string
}

func of(parts ...string) string { return strings.Join(parts, "") }

const (
	upper40 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGH"
	mixed20 = "aB3dE6gH9jK2mN5pQ8sT"
	hex32   = "0123456789abcdef0123456789abcdef"
	base40  = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	body64  = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	header  = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
	payload = "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
	signed  = "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
	// github is the example of the issuer's own account of the checksum.
	github  = "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17"
	unsound = "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18"
)

func pem(label, body string) string {
	return of("-----BEGIN ", label, "-----\n", body, "\n-----END ", label, "-----")
}

func examples() map[string]example {
	return map[string]example{
		"private-key": {
			found: []string{
				pem("RSA PRIVATE KEY", body64), pem("PRIVATE KEY", body64+"\n"+body64), pem("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"),
				pem("PGP PRIVATE KEY BLOCK", "Version: 1\n\n"+body64+"\n=aB3d"), pem("ENCRYPTED PRIVATE KEY", body64),
				of(`{"private_key": "-----BEGIN `, `PRIVATE KEY-----\n`, body64, `\n`, body64, `\n-----END PRIVATE KEY-----\n"}`),
				of("-----BEGIN ", "EC PRIVATE KEY-----\n", body64, "\nand there it was cut off"),
			},
			left: []string{
				pem("PUBLIC KEY", body64), pem("CERTIFICATE", body64), pem("PRIVATE KEY", "..."), "-----BEGIN PRIVATE KEY-----",
				"A file that begins with -----BEGIN RSA PRIVATE KEY----- is a key of the old form; convert it with openssl.",
			},
		},
		"age-secret-key": {
			found: []string{of("AGE-SECRET-", "KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE")},
			left:  []string{"AGE-SECRET-KEY-1...", "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"},
		},
		"putty-private-key": {
			found: []string{of("Private-", "Lines: 2\n", body64, "\n", body64)},
			left:  []string{"Private-Lines: 2\n(left out)", of("Public-", "Lines: 2\n", body64)},
		},
		"fleetd-ticket": {
			found: []string{of("fleet", "1", strings.Repeat("uuayi6ayf5uxanbp", 5))},
			left:  []string{"fleet1uuayi6ayf5uxanbpgezdolrqfyyc4mjporrxalzugm3d...", "the fleet1 of two"},
		},
		"aws-access-key-id": {
			found: []string{of("AKIA", "IOSFODNN7EXAMPLE"), of("ASIA", "Y34FZKBOKMUTVV7A")},
			left:  []string{of("AKIA", "IOSFODNN7EXAMPL"), of("AKIA", "IOSFODNN7EXAMPLEX"), of("AKIA", "iosfodnn7example"), of("XAKIA", "IOSFODNN7EXAMPLE"), of("AKIA", "IOSFODNN0EXAMPL1")},
		},
		"aws-secret-access-key": {
			found: []string{of("aws_secret_access_key = ", base40), of(`"SecretAccessKey": "`, base40, `"`), of("export AWS_SECRET_ACCESS_KEY=", base40)},
			left:  []string{base40, of("aws_secret_access_key = ", base40[1:]), of("aws_secret_access_key ", base40), of("aws_secret_access_key = ", base40, "A"), "aws_secret_access_key: ${AWS_SECRET_ACCESS_KEY}"},
		},
		"aws-session-token": {
			found: []string{of("AWS_SESSION_TOKEN=", strings.Repeat("IQoJb3JpZ2luX2VjEA", 8), "==")},
			left:  []string{"AWS_SESSION_TOKEN=short", strings.Repeat("IQoJb3JpZ2luX2VjEA", 8)},
		},
		"aws-bedrock-api-key": {
			found: []string{of("ABSK", "QmVkcm9ja0FQSUtleS", strings.Repeat("1hdC0xMjM0", 6), "=")},
			left:  []string{"ABSKQmVkcm9ja0FQSUtleS1h", "ABSK and more"},
		},
		"gcp-api-key": {
			found: []string{of("AI", "za", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY")},
			left:  []string{of("AI", "za", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMB"), of("AI", "za", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWYab")},
		},
		"gcp-oauth-client-secret": {
			found: []string{of("GOC", "SPX-", "abcdEFGH1234_ijklMNOP5678-qr")},
			left:  []string{"GOCSPX-short"},
		},
		"gcp-oauth-access-token": {
			found: []string{of("ya", "29.", "a0AfH6SMBx", strings.Repeat("aB3_-", 10))},
			left:  []string{"ya29.a0", "maya29.com and its neighbours are many, they are said to be"},
		},
		"azure-storage-key": {
			found: []string{of("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", strings.Repeat("aB3dE6g+/j", 8), "aB3dE6", "==;EndpointSuffix=core.windows.net")},
			left:  []string{of("AccountKey=", strings.Repeat("aB3dE6g+/j", 8)), "AccountKey=<key>"},
		},
		"azure-shared-access-key": {
			found: []string{of("Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=", strings.Repeat("aB3dE6g+/j", 4), "aB3=")},
			left:  []string{"SharedAccessKeyName=RootManageSharedAccessKey", "SharedAccessKey=abc="},
		},
		"azure-sas-signature": {
			found: []string{of("https://x.blob.core.windows.net/c/b?sv=2024-01-01&sr=b&sig=", strings.Repeat("aB3dE6gH9%2B", 4), "aB8", "%3D")},
			left:  []string{"?sig=abc%3D", "sig=deadbeef"},
		},
		"azure-client-secret": {
			found: []string{of("abc", "8Q", "~", strings.Repeat("aB3dE6", 5), "xY_z")},
			left:  []string{"8Q~", of("abc8Q", "~short"), "in 3Q~4Q we grew"},
		},
		"digitalocean-token": {
			found: []string{of("dop_", "v1_", hex32, hex32)},
			left:  []string{of("dop_", "v1_", hex32)},
		},
		"github-token": {
			found: []string{of("gh", "p_", github), of("https://x:gh", "s_", github, "@github.com")},
			left:  []string{of("gh", "p_", unsound), of("gh", "p_", github, "0"), of("agh", "p_", github), "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
		},
		"github-fine-grained-token": {
			found: []string{of("github_", "pat_", mixed20, "aB", "_", strings.Repeat("aB3dE6gH9j", 5), "aB3dE6gH9")},
			left:  []string{of("github_", "pat_", mixed20), "github_pat_TOKEN"},
		},
		"github-installation-token": {
			found: []string{of("gh", "s_", "12345_", header, ".", payload, ".", signed)},
			left:  []string{of("gh", "s_", "12345_", header)},
		},
		"gitlab-token": {
			found: []string{of("gl", "pat-", mixed20), of("gl", "dt-", mixed20), of("gl", "pat-", mixed20, mixed20, ".01.0j1abcdef")},
			left:  []string{of("gl", "pat-", mixed20[1:]), "glpat-TOKEN", of("x-gl", "pat-", mixed20)},
		},
		"npm-token": {
			found: []string{of("npm", "_", github)},
			left:  []string{of("npm", "_", unsound), "npm_config_registry_and_other_settings_of_npm"},
		},
		"pypi-token": {
			found: []string{of("pypi-", "AgEIcHlwaS5vcmc", strings.Repeat("CJDZiNjE1", 8)), of("pypi-", "AgENdGVzdC5weXBpLm9yZw", strings.Repeat("CJDZiNjE1", 8))},
			left:  []string{of("pypi-", "AgEIcHlwaS5vcmc"), of("pypi-", "Ag", strings.Repeat("CJDZiNjE1", 8))},
		},
		"rubygems-key": {
			found: []string{of("ruby", "gems_", hex32, hex32[:16])},
			left:  []string{"rubygems_api_key", of("ruby", "gems_", hex32)},
		},
		"docker-token": {
			found: []string{of("dckr_", "pat_", mixed20, "aB3dE6g")},
			left:  []string{"dckr_pat_TOKEN"},
		},
		"atlassian-token": {
			found: []string{of("ATA", "TT3", strings.Repeat("xFfGF0aB3-", 8), "=1A2B3C4D")},
			left:  []string{"ATATT3 and nothing"},
		},
		"anthropic-key": {
			found: []string{of("sk-", "ant-", "api03-", strings.Repeat("aB3_-", 18), "AA"), of("sk-", "ant-", "oat01-", strings.Repeat("aB3dE", 10))},
			left:  []string{"sk-ant-api03-...", "sk-ant-YOUR-KEY", of("ask-", "ant-", "api03-", strings.Repeat("aB3dE", 10))},
		},
		"openai-key": {
			found: []string{of("sk-", mixed20, "T3Blbk", "FJ", mixed20), of("sk-", "proj-", strings.Repeat("aB3_-", 12))},
			left:  []string{"sk-your-key-here", of("sk-", mixed20, mixed20), "task-proj-plan-for-the-next-quarter-with-all-of-its-many-milestones", "sk-SK"},
		},
		"openrouter-key": {
			found: []string{of("sk-", "or-v1-", hex32, hex32)},
			left:  []string{of("sk-", "or-v1-", hex32)},
		},
		"huggingface-token": {
			found: []string{of("h", "f_", "abcdefghijKLMNOPQRSTuvwxyzABCDEFgh")},
			left:  []string{"hf_hub_download", of("h", "f_", "abcdefghijKLMNOPQRSTuvwxyzABCDEFg1")},
		},
		"groq-key": {
			found: []string{of("gs", "k_", mixed20, mixed20, mixed20[:12])},
			left:  []string{of("gs", "k_", mixed20)},
		},
		"xai-key": {
			found: []string{of("xa", "i-", strings.Repeat(mixed20, 4))},
			left:  []string{"xai-org/grok"},
		},
		"slack-token": {
			found: []string{of("xo", "xb-", "123456789012-1234567890123-", mixed20), of("xo", "xp-", "1234567890-abcdefabcdef")},
			left:  []string{"xoxb-your-bot-token-goes-here", "xoxo"},
		},
		"slack-app-token": {
			found: []string{of("xap", "p-1-", "A012ABCDEFG-1234567890123-", hex32)},
			left:  []string{"xapp-1-your-token"},
		},
		"slack-webhook": {
			found: []string{of("https://hooks.slack", ".com/services/", "T00000000/B00000000/", mixed20, "wXyZ")},
			left:  []string{"https://hooks.slack.com/services/T000/B000/XXX", "https://hooks.slack.com/"},
		},
		"stripe-key": {
			found: []string{of("sk_", "live_", mixed20, "uV"), of("rk_", "test_", mixed20)},
			left:  []string{"sk_live_...", of("pk_", "live_", mixed20), of("task_", "live_", mixed20)},
		},
		"stripe-webhook-secret": {
			found: []string{of("wh", "sec_", mixed20, mixed20[:12])},
			left:  []string{"whsec_...", of("wh", "sec_", mixed20)},
		},
		"sendgrid-key": {
			found: []string{of("S", "G.", mixed20, "aB", ".", mixed20, mixed20, "aB3")},
			left:  []string{"SG.1", of("S", "G.", mixed20, ".", mixed20)},
		},
		"vault-token": {
			found: []string{of("hv", "s.", mixed20, "aB3dE")},
			left:  []string{"hvs.TOKEN", "hvs. more"},
		},
		"databricks-token": {
			found: []string{of("da", "pi", hex32, "-2")},
			left:  []string{"dapi", of("da", "pi", hex32[1:])},
		},
		"shopify-token": {
			found: []string{of("shp", "at_", hex32)},
			left:  []string{"shpat_token"},
		},
		"grafana-token": {
			found: []string{of("gl", "sa_", mixed20, mixed20[:12], "_", hex32[:8])},
			left:  []string{of("gl", "sa_", mixed20)},
		},
		"tailscale-key": {
			found: []string{of("ts", "key-auth-", "kAbCdEfCNTRL-", mixed20, mixed20)},
			left:  []string{"tskey-auth-KEY", "tskey-"},
		},
		"linear-key": {
			found: []string{of("lin_", "api_", mixed20, mixed20)},
			left:  []string{"lin_api_key"},
		},
		"notion-token": {
			found: []string{of("nt", "n_", "12345678901", mixed20, mixed20[:15])},
			left:  []string{"ntn_token"},
		},
		"postman-key": {
			found: []string{of("PM", "AK-", hex32[:24], "-", hex32, "ab")},
			left:  []string{"PMAK-key"},
		},
		"jwt": {
			found: []string{
				of(header, ".", payload, ".", signed), of("Cookie: session=", header, ".", payload, ".", signed, "; path=/"),
				of("eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4Q0JDLUhTMjU2In0", "..", "AxY8DCtDaGlsbGljb3RoZQ", ".", "KDlTtXchhZTGufMYmOYGS4HffxPSUrfmqCHXaI9wOGY", ".", "U0m_YmjN04DJvceFICbCVQ"),
			},
			left: []string{
				of(header, ".", payload), of(header, ".", payload, "."), of("eyJhbGciOiJub25lIn0", ".", payload, ".", signed),
				of("eyJmb28iOiJiYXIifQ", ".", payload, ".", signed), "eyJ", "a.eyJ.b",
			},
		},
		"url-password": {
			found: []string{
				of("postgres://app:", "s3cr3t-pw", "@db.internal:5432/app"), of("mongodb+srv://u:", "p%40ss!w", "@cluster0.example.net"),
				of("„redis://:", "hunter2hunter", "@10.0.0.1:6379/0“"), of("https://oauth2:", "abc:def", "@example.com/x.git"),
			},
			left: []string{
				"postgres://app@db/app", "postgres://user:password@localhost/db", "https://${USER}:${PASS}@example.com", "http://localhost:8080/@scope",
				"postgres://app:***@db", "postgres://app:<password>@db", "https://example.com/a:b@c", "://a:bcd@e", "see https://x.example: it is at me@example.com",
			},
		},
		"bearer-token": {
			found: []string{
				of("Authorization: Bearer ", mixed20, mixed20), of(`-H "authorization: bearer `, mixed20, `"`), of(`{"Authorization": "Bearer `, mixed20, `=="}`),
			},
			left: []string{"Authorization: Bearer TOKEN", "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE_1", of("Bearer ", mixed20), "Authorization: Bearer ${TOKEN_OF_THE_SERVICE_1}", "Authorization: Bearer $TOKEN_OF_THE_SERVICE_1"},
		},
	}
}

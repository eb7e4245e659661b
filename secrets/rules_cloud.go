package secrets

import (
	"encoding/base64"
	"strings"
)

// cloudRules are those of clouds.
func cloudRules() []Rule {
	const (
		aws   = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html"
		gcp   = "https://cloud.google.com/docs/authentication/api-keys"
		azure = "https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string"
	)
	return []Rule{
		{
			ID: "aws-access-key-id", What: "the id of an AWS access key", Source: aws,
			anchors: []string{"AKIA", "ASIA"}, pattern: form(`A[KS]IA[A-Z2-7]{16}`),
		},
		{
			ID: "aws-secret-access-key", What: "an AWS secret access key", Source: aws, fold: true,
			anchors: []string{"secret_access_key", "secretaccesskey", "secret-access-key", "secret access key", "aws_secret_key"},
			find:    assigned(form(`[A-Za-z0-9+/]{40}`)),
		},
		{
			ID: "aws-session-token", What: "an AWS session token", Source: aws, fold: true,
			anchors: []string{"aws_session_token", "sessiontoken", "aws_security_token"},
			find:    assigned(form(`[A-Za-z0-9+/]{100,}={0,2}`)),
		},
		{
			ID: "aws-bedrock-api-key", What: "an API key of Amazon Bedrock", Source: "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
			anchors: []string{"ABSKQmVkcm9ja0FQSUtleS"}, pattern: form(`ABSKQmVkcm9ja0FQSUtleS[A-Za-z0-9+/]{40,}={0,2}`),
		},
		{
			ID: "gcp-api-key", What: "a Google API key", Source: gcp,
			anchors: []string{"AIza"}, pattern: form(`AIza[A-Za-z0-9_-]{35}`),
		},
		{
			ID: "gcp-oauth-client-secret", What: "the secret of a Google OAuth client", Source: "https://developers.google.com/identity/protocols/oauth2",
			anchors: []string{"GOCSPX-"}, pattern: form(`GOCSPX-[A-Za-z0-9_-]{28}`),
		},
		{
			ID: "gcp-oauth-access-token", What: "a Google OAuth access token", Source: "https://developers.google.com/identity/protocols/oauth2",
			anchors: []string{"ya29."}, joins: "-.", pattern: form(`ya29\.[A-Za-z0-9_.-]{40,}`),
		},
		{
			ID: "azure-storage-key", What: "the key of an Azure storage account", Source: azure, fold: true,
			anchors: []string{"accountkey", "account_key"}, find: assigned(form(`[A-Za-z0-9+/]{86}==`)),
		},
		{
			ID: "azure-shared-access-key", What: "an Azure shared access key", Source: azure, fold: true,
			anchors: []string{"sharedaccesskey"}, find: assigned(form(`[A-Za-z0-9+/]{43}=`)),
		},
		{
			ID: "azure-sas-signature", What: "the signature of an Azure shared access link",
			Source:  "https://learn.microsoft.com/rest/api/storageservices/create-service-sas",
			anchors: []string{"sig="}, pattern: form(`sig=((?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){43}(?:=|%3[Dd]))`), check: isSignature,
		},
		{
			ID: "azure-client-secret", What: "the secret of a Microsoft Entra application",
			Source:  "https://learn.microsoft.com/entra/identity-platform/how-to-add-credentials",
			anchors: []string{"0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"}, before: 3, joins: "~.-",
			pattern: form(`[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}`),
		},
		{
			ID: "digitalocean-token", What: "a DigitalOcean token", Source: "https://docs.digitalocean.com/reference/api/",
			anchors: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, pattern: form(`do[opr]_v1_[a-f0-9]{64}`),
		},
	}
}

// isSignature reports whether a parameter of a link is 32 bytes in base64.
func isSignature(secret string) bool {
	plain := strings.NewReplacer("%2B", "+", "%2b", "+", "%2F", "/", "%2f", "/", "%3D", "=", "%3d", "=").Replace(secret)
	raw, err := base64.StdEncoding.DecodeString(plain)
	const hmacBytes = 32
	return err == nil && len(raw) == hmacBytes
}

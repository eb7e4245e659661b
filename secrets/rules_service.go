package secrets

import "strings"

// modelRules are those of the services that agents run on.
func modelRules() []Rule {
	return []Rule{
		{
			ID: "anthropic-key", What: "an Anthropic key or token", Source: "https://docs.claude.com/en/api/overview", joins: "-",
			anchors: []string{"sk-ant-"}, pattern: form(`sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{24,}`),
		},
		{
			ID: "openai-key", What: "an OpenAI key", Source: "https://platform.openai.com/docs/api-reference/authentication", joins: "-",
			anchors: []string{"sk-"}, pattern: form(`sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})`),
		},
		{
			ID: "openrouter-key", What: "an OpenRouter key", Source: "https://openrouter.ai/docs/api-reference/authentication", joins: "-",
			anchors: []string{"sk-or-v1-"}, pattern: form(`sk-or-v1-[a-f0-9]{64}`),
		},
		{
			ID: "huggingface-token", What: "a Hugging Face token", Source: "https://huggingface.co/docs/hub/security-tokens",
			anchors: []string{"hf_"}, pattern: form(`hf_[A-Za-z]{34}`),
		},
		{
			ID: "groq-key", What: "a Groq key", Source: "https://console.groq.com/docs/api-reference",
			anchors: []string{"gsk_"}, pattern: form(`gsk_[A-Za-z0-9]{52}`),
		},
		{
			ID: "xai-key", What: "an xAI key", Source: "https://docs.x.ai/docs/api-reference",
			anchors: []string{"xai-"}, joins: "-", pattern: form(`xai-[A-Za-z0-9]{80}`),
		},
	}
}

// serviceRules are those of other services.
func serviceRules() []Rule {
	const (
		slack  = "https://docs.slack.dev/authentication/tokens/"
		stripe = "https://docs.stripe.com/keys"
	)
	return []Rule{
		{
			ID: "slack-token", What: "a Slack token", Source: slack, joins: "-.",
			anchors: []string{"xox"}, pattern: form(`xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}`), check: hasDigit,
		},
		{
			ID: "slack-app-token", What: "an app-level Slack token", Source: slack, joins: "-",
			anchors: []string{"xapp-"}, pattern: form(`xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{32,}`),
		},
		{
			ID: "slack-webhook", What: "the address of a Slack webhook", Source: "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/",
			anchors: []string{"hooks.slack.com/"},
			pattern: form(`hooks\.slack\.com/(?:services|workflows|triggers)/([A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{20,})`),
		},
		{
			ID: "stripe-key", What: "a secret Stripe key", Source: stripe,
			anchors: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_"},
			pattern: form(`[rs]k_(?:org_)?(?:live|test)_[A-Za-z0-9]{16,}`),
		},
		{
			ID: "stripe-webhook-secret", What: "the secret of a Stripe webhook", Source: "https://docs.stripe.com/webhooks/signature",
			anchors: []string{"whsec_"}, joins: "+/=", pattern: form(`whsec_[A-Za-z0-9+/]{32,}={0,2}`),
		},
		{
			ID: "sendgrid-key", What: "a SendGrid key", Source: "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
			anchors: []string{"SG."}, pattern: form(`SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`),
		},
	}
}

// hostRules are those of what people run on.
func hostRules() []Rule {
	return []Rule{
		{
			ID: "vault-token", What: "a HashiCorp Vault token", Source: "https://developer.hashicorp.com/vault/docs/concepts/tokens", joins: "-",
			anchors: []string{"hvs.", "hvb.", "hvr."}, pattern: form(`hv[bsr]\.[A-Za-z0-9_-]{24,}`),
		},
		{
			ID: "databricks-token", What: "a Databricks token", Source: "https://docs.databricks.com/dev-tools/auth/pat",
			anchors: []string{"dapi"}, pattern: form(`dapi[a-f0-9]{32}(?:-[0-9]+)?`),
		},
		{
			ID: "shopify-token", What: "a Shopify token", Source: "https://shopify.dev/docs/apps/build/authentication-authorization",
			anchors: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, pattern: form(`shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`),
		},
		{
			ID: "grafana-token", What: "a token of a Grafana service account", Source: "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
			anchors: []string{"glsa_"}, pattern: form(`glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}`),
		},
		{
			ID: "tailscale-key", What: "a Tailscale key", Source: "https://tailscale.com/kb/1277/key-prefixes", joins: "-",
			anchors: []string{"tskey-"}, pattern: form(`tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}`),
		},
		{
			ID: "linear-key", What: "a Linear key", Source: "https://linear.app/developers/graphql",
			anchors: []string{"lin_api_"}, pattern: form(`lin_api_[A-Za-z0-9]{40}`),
		},
		{
			ID: "notion-token", What: "a Notion token", Source: "https://developers.notion.com/docs/authorization",
			anchors: []string{"ntn_"}, pattern: form(`ntn_[0-9]{8,}[A-Za-z0-9]{32,}`),
		},
		{
			ID: "postman-key", What: "a Postman key", Source: "https://learning.postman.com/docs/developer/postman-api/authentication/",
			anchors: []string{"PMAK-"}, joins: "-", pattern: form(`PMAK-[a-f0-9]{24}-[a-f0-9]{34}`),
		},
	}
}

func hasDigit(secret string) bool { return strings.ContainsAny(secret, "0123456789") }

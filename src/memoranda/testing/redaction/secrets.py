"""The corpus's secrets: what each format looks like, and how people write it down.

Written from what vendors say about their formats, before and apart from the rules. ``UNRULED`` are
formats that no rule was made for: they tell how far the general rules reach.
"""

from __future__ import annotations

from typing import Final

CREDENTIALS: Final[dict[str, str]] = {
    "AWS access key": "The deploy user's key is ⟦AKIA<base32:16>⟧, ask Ada for the other half.",
    "AWS temporary key": "export AWS_ACCESS_KEY_ID=⟦ASIA<base32:16>⟧",
    "AWS secret key": "aws_secret_access_key = ⟦<base64:40>⟧",
    "AWS secret key, camel case": '  "SecretAccessKey": "⟦<base64:40>⟧",',
    "AWS session token": "AWS_SESSION_TOKEN=⟦<base64:220>==⟧",
    "Google API key": "Maps: https://maps.example.com/js?key=⟦AIza<url64:35>⟧&v=3",
    "Google service account": (
        '{"type": "service_account", "private_key": '
        '"⟦-----BEGIN PRIVATE KEY-----\\n<pemline:12>\\n-----END PRIVATE KEY-----\\n⟧"}'
    ),
    "Google OAuth client": "client secret ⟦GOCSPX-<url64:28>⟧ (console, project blue)",
    "Google OAuth token": "curl -H 'Authorization: Bearer ⟦ya29.<url64:120>⟧' https://x.example.com",
    "Azure storage": (
        "DefaultEndpointsProtocol=https;AccountName=blue;AccountKey=⟦<base64:86>==⟧;"
        "EndpointSuffix=core.windows.net"
    ),
    "Azure client secret": "AZURE_CLIENT_SECRET=⟦<alnum:3>8Q~<url64:34>⟧",
    "Azure shared access signature": (
        "https://blue.blob.core.windows.net/c?sv=2022-11-02&sr=c&sig=⟦<alnum:42>%3D⟧"
    ),
    "GitHub token": "- CI uses ⟦ghp_<crc:36>⟧ (expires in May)",
    "GitHub app token": "GITHUB_TOKEN: ⟦ghs_<crc:36>⟧",
    "GitHub fine-grained token": "token ⟦github_pat_<alnum:22>_<alnum:59>⟧",
    "GitLab token": "git clone https://oauth2:⟦glpat-<url64:20>⟧@gitlab.example.com/a/b.git",
    "GitLab runner token": "gitlab-runner register --token ⟦glrt-<url64:20>⟧",
    "Slack bot token": "SLACK=⟦xoxb-<digit:12>-<digit:13>-<alnum:24>⟧",
    "Slack app token": "app level: ⟦xapp-1-A<upnum:10>-<digit:13>-<hex:64>⟧",
    "Slack webhook": "post to ⟦https://hooks.slack.com/services/T<upnum:8>/B<upnum:10>/<alnum:24>⟧",
    "Stripe key": "stripe.api_key = '⟦sk_live_<alnum:24>⟧'",
    "Stripe restricted key": "Use ⟦rk_live_<alnum:99>⟧ for reports",
    "Stripe webhook secret": "endpoint secret: ⟦whsec_<alnum:32>⟧",
    "OpenAI project key": "OPENAI_API_KEY=⟦sk-proj-<url64:74>T3BlbkFJ<url64:74>⟧",
    "OpenAI key": "old key ⟦sk-<alnum:20>T3BlbkFJ<alnum:20>⟧ still works",
    "Anthropic key": "ANTHROPIC_API_KEY=⟦sk-ant-api03-<url64:93>AA⟧",
    "Anthropic admin key": "admin: ⟦sk-ant-admin01-<url64:93>AA⟧",
    "npm token": "//packages.example.com/:_authToken=⟦npm_<alnum:36>⟧",
    "PyPI token": "twine upload -u __token__ -p ⟦pypi-AgEIcHlwaS5vcmc<url64:90>⟧",
    "SendGrid key": "sendgrid ⟦SG.<url64:22>.<url64:43>⟧",
    "Twilio key": "TWILIO_API_KEY=⟦SK<hex:32>⟧",
    "Twilio auth token": "twilio_auth_token: ⟦<hex:32>⟧",
    "JSON web token": "the session cookie was ⟦<jwt:43>⟧",
    "RSA private key": (
        "key for the jump host:\n⟦-----BEGIN RSA PRIVATE KEY-----\n<pem:24>\n"
        "-----END RSA PRIVATE KEY-----⟧\nkeep it safe"
    ),
    "OpenSSH private key": (
        "⟦-----BEGIN OPENSSH PRIVATE KEY-----\n<pem:7>\n-----END OPENSSH PRIVATE KEY-----⟧\n"
    ),
    "Encrypted private key": (
        "    ⟦-----BEGIN ENCRYPTED PRIVATE KEY-----\n<pem:9>\n-----END ENCRYPTED PRIVATE KEY-----⟧"
    ),
    "PGP private key": (
        "⟦-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n<pem:12>\n=<base64:4>\n"
        "-----END PGP PRIVATE KEY BLOCK-----⟧"
    ),
    "Database URL": "DATABASE_URL=postgres://app:⟦<alnum:18>⟧@db.internal:5432/app",
    "Redis URL": "cache at redis://:⟦<alnum:24>⟧@10.0.0.7:6379/0",
    "URL with a password": "see https://ada:⟦<mixed:14>⟧@wiki.example.com/page",
    "Queue URL": "amqps://blue:⟦<url64:32>⟧@mq.example.com/blue",
    "Password in quotes": 'db.connect(user="app", password="⟦<mixed:16>⟧")',
    "Password in an environment file": "SMTP_PASSWORD=⟦<alnum:20>⟧",
    "Password in YAML": "  admin_password: ⟦<mixed:15>⟧",
    "Password in JSON": '{"user": "root", "password": "⟦<alnum:12>⟧"}',
    "Password in a sentence": "The staging password is ⟦<mixed:13>⟧.",
    "Password with a note": "- wifi password (guests): ⟦<alnum:11>⟧",
    "Password in German": "Das Passwort lautet ⟦<alnum:12>⟧, bitte nicht weitergeben.",
    "Password in Spanish": "contraseña: ⟦<alnum:14>⟧",
    "Password in Chinese": "数据库密码：⟦<alnum:14>⟧",
    "Password on a command line": "mysqldump --user=app --password=⟦<alnum:16>⟧ blue",
    "User and password for curl": "curl -u deploy:⟦<alnum:20>⟧ https://ci.example.com/api",
    "Password in a netrc": "machine ftp.example.com login ada password ⟦<alnum:16>⟧",
    "Secret key": "SECRET_KEY = 'django-insecure-⟦<mixed:50>⟧'",
    "API key": "x-api-key: ⟦<alnum:32>⟧",
    "Client secret": "client_secret=⟦<url64:40>⟧&grant_type=client_credentials",
    "Access token": '"access_token": "⟦<alnum:40>⟧"',
    "Bearer token": "Authorization: Bearer ⟦<url64:43>⟧",
    "Basic authentication": "authorization: Basic ⟦<basic:16>⟧",
    "Mailgun key": "mailgun ⟦key-<hex:32>⟧",
    "Mailchimp key": "mailchimp: ⟦<hex:32>-us14⟧",
    "DigitalOcean token": "doctl auth init -t ⟦dop_v1_<hex:64>⟧",
    "Shopify token": "X-Shopify-Access-Token: ⟦shpat_<hex:32>⟧",
    "Hugging Face token": "huggingface-cli login --token ⟦hf_<alpha:34>⟧",
    "Telegram bot token": "bot: ⟦<digit:10>:AA<url64:33>⟧",
    "Discord bot token": "discord ⟦M<alnum:23>.<url64:6>.<url64:38>⟧",
    "Discord webhook": "⟦https://discord.com/api/webhooks/<digit:18>/<url64:68>⟧",
    "Databricks token": "databricks ⟦dapi<hex:32>⟧-2",
    "Vault token": "VAULT_TOKEN=⟦hvs.<url64:95>⟧",
    "Terraform token": "credentials: ⟦<alnum:14>.atlasv1.<url64:67>⟧",
    "Square token": "square ⟦sq0csp-<url64:43>⟧",
    "Linear key": "linear: ⟦lin_api_<alnum:40>⟧",
    "Figma token": "figma ⟦figd_<url64:40>⟧",
    "Notion token": "notion integration ⟦ntn_<digit:11><alnum:35>⟧",
    "Grafana token": "grafana ⟦glsa_<alnum:32>_<hex:8>⟧",
    "New Relic key": "⟦NRAK-<upnum:27>⟧ is the user key",
    "Doppler token": "doppler ⟦dp.pt.<alnum:43>⟧",
    "PlanetScale token": "⟦pscale_tkn_<url64:43>⟧",
    "Pulumi token": "PULUMI=⟦pul-<hex:40>⟧",
    "age secret key": "# backup\n⟦AGE-SECRET-KEY-1<bech32:58>⟧",
    "RubyGems key": "gem push: ⟦rubygems_<hex:48>⟧",
    "Docker Hub token": "docker login -u blue -p ⟦dckr_pat_<url64:27>⟧",
    "Atlassian token": "jira ⟦ATATT3xFfGF0<url64:170>=<HEX:8>⟧",
    "Sentry token": "sentry ⟦sntryu_<hex:64>⟧",
    "Airtable token": "airtable ⟦pat<alnum:14>.<hex:64>⟧",
    "Postman key": "⟦PMAK-<hex:24>-<hex:34>⟧",
    "Groq key": "groq ⟦gsk_<alnum:52>⟧",
    "Replicate token": "replicate ⟦r8_<alnum:37>⟧",
    "Dropbox token": "dropbox ⟦sl.<url64:140>⟧",
    "Datadog key": "DD_API_KEY=⟦<hex:32>⟧",
}
"""By format: a text, with the secret in double brackets."""

UNRULED: Final[dict[str, str]] = {
    "Contentful token": "contentful ⟦CFPAT-<url64:43>⟧",
    "Supabase token": "supabase login --token ⟦sbp_<hex:40>⟧",
    "Fly token": "FLY_API_TOKEN=⟦fm2_<base64:120>⟧",
    "Buildkite token": "buildkite api token: ⟦bkua_<hex:40>⟧",
    "Okta token": "Authorization: SSWS ⟦00<url64:40>⟧",
    "Algolia key": "ALGOLIA_ADMIN_KEY=⟦<hex:32>⟧",
    "Plaid secret": "plaid secret: ⟦<hex:30>⟧",
    "Asana token": "asana ⟦1/<digit:16>:<hex:32>⟧",
    "Cloudflare token": 'CLOUDFLARE_API_TOKEN="⟦<url64:40>⟧"',
    "Passphrase": "the backup's passphrase is ⟦<alnum:22>⟧",
    "Sourcegraph token": "SRC_ACCESS_TOKEN=⟦sgp_<hex:40>⟧",
    "Password in French": "mot de passe : ⟦<alnum:13>⟧",
    "Password in Japanese": "パスワードは ⟦<alnum:12>⟧ です",
    "Password in a table": "| admin | ⟦<mixed:14>⟧ |",
}
"""The same, of formats that no rule is about."""

PERSONAL: Final[dict[str, dict[str, str]]] = {
    "email": {
        "address": "write to ⟦ada.l<digit:2>@example.com⟧ first",
        "with a tag": "<⟦ada+notes@mail.example.co.uk⟧>",
        "in a link": "[mail](mailto:⟦ada_<lower:5>@example.org⟧)",
    },
    "phone": {
        "international": "call ⟦+49 30 901820<digit:2>⟧ after nine",
        "without blanks": "mobile ⟦+4479111234<digit:2>⟧",
        "United States": "office: ⟦(212) 555-01<digit:2>⟧",
        "with dots": "tel. ⟦+33.1.45.67.89.<digit:2>⟧",
    },
    "card": {
        "plain": "paid with ⟦<luhn:16>⟧",
        "American": "Amex ⟦378282246310005⟧",
        "in groups": "card ⟦4111 1111 1111 1111⟧ exp 12/29",
        "with dashes": "⟦5500-0000-0000-0004⟧",
    },
    "iban": {
        "in groups": "IBAN: ⟦<iban:1>⟧",
        "plain": "transfer to ⟦<iban:0>⟧ please",
        "British": "⟦GB29 NWBK 6016 1331 9268 19⟧",
    },
    "national_id": {
        "United States": "her SSN is ⟦536-22-87<digit:2>⟧",
        "Spain": "DNI ⟦12345678Z⟧",
        "Italy": "codice fiscale ⟦RSSMRA85T10A562S⟧",
        "Brazil": "CPF ⟦529.982.247-25⟧",
        "France": "NIR ⟦2 55 08 14 168 025 38⟧",
        "Germany": "Steuer-ID ⟦86095742719⟧",
        "United Kingdom": "NHS number ⟦943 476 5919⟧",
        "Netherlands": "BSN ⟦111222333⟧",
        "Poland": "PESEL ⟦44051401359⟧",
        "Sweden": "personnummer ⟦811218-9876⟧",
        "India": "Aadhaar ⟦2341 2341 2346⟧",
        "China": "身份证 ⟦11010519491231002X⟧",
    },
}
"""By kind and form."""

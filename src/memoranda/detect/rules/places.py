"""Secrets that are known by the place they stand at: behind a name, in an address, in a block."""

from __future__ import annotations

from typing import Final

from memoranda.detect.checks import (
    is_key,
    is_no_placeholder,
    is_password,
    is_random,
    is_spoken_password,
)
from memoranda.detect.rules.rule import Rule

# What may follow a name before its value: a quote that ends the name, an equals sign or a colon.
_SIGN: Final = rb"(?:\\?[\"'`*_]{1,3}|\])?[ \t]{0,8}(?::=|=>?|:|\xef\xbc\x9a)\*{0,2}[ \t]{0,8}"
_VALUE: Final = (
    rb"(?:\\?\"(?P<s>[^\"\s\\]{4,4000}+)\\?\"|'(?P<t>[^'\s]{4,4000}+)'|\*{0,2}`(?P<u>[^`\s]{4,4000}+)`"
    rb"|(?P<v>(?![\[{<])(?:[^\s\"'`&,;|]|&(?!\w+=)|[,;|](?=[^\s\"'&]))"
    rb"{5,4000}(?<![.,;:)\]}\\])))"
)

_PASSWORD_NAMES: Final = (
    rb"(?:pass(?:word|wd|phrase|code|wort)|pwd|kennwort|contrase\xc3\xb1a|senha|mot de passe"
    rb"|has\xc5\x82o|\xd0[\x9f\xbf]\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c"
    rb"|\xe5\xaf\x86\xe7\xa0\x81|\xe5\xaf\x86\xe7\xa2\xbc|\xe5\x8f\xa3\xe4\xbb\xa4"
    rb"|\xe3\x83\x91\xe3\x82\xb9\xe3\x83\xaf\xe3\x83\xbc\xe3\x83\x89"
    rb"|\xeb\xb9\x84\xeb\xb0\x80\xeb\xb2\x88\xed\x98\xb8)"
)
_PASSWORD_LITERALS: Final = (
    "pass",
    "pwd",
    "kennwort",
    "contraseñ",
    "senha",
    "hasło",
    "ароль",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
)

_SOURCE: Final = "https://cwe.mitre.org/data/definitions/312.html"

PLACES: Final[tuple[Rule, ...]] = (
    Rule(
        "private-key",
        "credential",
        "a private key",
        "block",
        ("-----BEGIN",),
        rb"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        rb"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?"
        rb"-----(?:\\n)?|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{16,}+)++)",
        "https://datatracker.ietf.org/doc/html/rfc7468",
        (
            "-----BEGIN RSA PRIVATE KEY-----\n<pem:8>\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\\n<pemline:8>\\n-----END PRIVATE KEY-----\\n",
            "-----BEGIN EC PRIVATE KEY-----\n<pem:3>\n(the rest is lost)",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n<pem:4>\n-----END PGP PRIVATE KEY BLOCK-----",
        ),
        (
            "-----BEGIN PUBLIC KEY-----\n<pem:4>\n-----END PUBLIC KEY-----",
            "-----BEGIN CERTIFICATE-----\n<pem:9>\n-----END CERTIFICATE-----",
            "A file that begins with -----BEGIN PRIVATE KEY----- is not for others.",
        ),
    ),
    Rule(
        "url-password",
        "credential",
        "a password in a URL",
        "line",
        ("://",),
        rb"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,200}:"
        rb"(?P<s>[^\s/@\"'<>]{3,500}+)@(?=[A-Za-z0-9.\[$\{_-])",
        "https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1",
        ("postgres://app:<alnum:12>@db/app", "redis://:<alnum:20>@10.0.0.1:6379"),
        (
            "https://user:password@example.com",
            "postgres://postgres:postgres@localhost",
            "https://u:$PASSWORD@host",
            "https://example.com:8080/a@b",
            "redis://:[REDACTED:credential]@cache",
        ),
        is_no_placeholder,
    ),
    Rule(
        "url-token",
        "credential",
        "a token in a URL",
        "line",
        ("://",),
        rb"(?<![A-Za-z0-9])https?://(?P<s>[\w-]{20,200}+)(?::x-oauth-basic)?@",
        "https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1",
        ("https://<alnum:40>@git.example.com/a.git",),
        ("https://someuser@git.example.com", "https://your-token-goes-here-12345@x"),
        is_key,
    ),
    Rule(
        "slack-webhook",
        "credential",
        "a Slack webhook",
        "line",
        ("://",),
        rb"https://hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{30,120}+",
        "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
        ("https://hooks.slack.com/services/T<upnum:8>/B<upnum:10>/<alnum:24>",),
        ("https://hooks.slack.com/services/", "https://api.slack.com/messaging/webhooks"),
        is_random,
    ),
    Rule(
        "webhook",
        "credential",
        "a webhook",
        "line",
        ("://",),
        rb"https://(?:(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d{16,20}/[\w-]{60,90}+"
        rb"|[\w-]+\.webhook\.office\.com/[\w@/-]{60,300}+)",
        "https://discord.com/developers/docs/resources/webhook",
        ("https://discord.com/api/webhooks/<digit:18>/<url64:68>",),
        ("https://discord.com/developers/docs/resources/webhook",),
        is_random,
    ),
    Rule(
        "azure-signature",
        "credential",
        "a shared access signature",
        "line",
        ("sig=",),
        rb"[?&]sig=(?P<s>[A-Za-z0-9%/+]{40,100}+=?)",
        "https://learn.microsoft.com/rest/api/storageservices/service-sas-examples",
        ("?sv=2022-11-02&sig=<alnum:42>%3D",),
        ("?sig=abc", "sig=<hex:8>"),
        is_random,
    ),
    Rule(
        "authorization",
        "credential",
        "an authorization header",
        "line",
        ("auth",),
        rb"(?i)(?:authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:(?:bearer|basic|token|sswp|ssws"
        rb"|apikey)[ \t]+))(?P<s>[\w+/=.~-]{12,4000}+)",
        "https://datatracker.ietf.org/doc/html/rfc9110#section-11.6.2",
        ("Authorization: Bearer <url64:43>", "authorization: Basic <basic:16>"),
        (
            "Authorization: Bearer <token>",
            "Authorization: Bearer $TOKEN",
            "Bearer authentication-scheme",
            "bearer your-token-goes-here",
        ),
        is_key,
    ),
    Rule(
        "command-line-password",
        "credential",
        "a password",
        "line",
        ("://",),
        rb"curl\b[^\n]{0,300}?\s(?:-u|--user|-U|--proxy-user)[ =]?[\"']?[^\s:\"']{1,100}:"
        rb"(?P<s>[^\s\"']{3,500}+)",
        "https://curl.se/docs/manpage.html#-u",
        (
            "curl -u deploy:<alnum:20> https://x.example.com",
            "curl -s --user 'a:<alnum:16>' https://x",
        ),
        ("curl -u user:pass https://example.com", "curl -u $USER:$PASS x"),
        is_no_placeholder,
    ),
    Rule(
        "netrc",
        "credential",
        "a password",
        "line",
        ("pass",),
        rb"machine[ \t]+\S{1,255}[ \t]+login[ \t]+\S{1,255}[ \t]+password[ \t]+(?P<s>\S{3,500}+)",
        "https://everything.curl.dev/usingcurl/netrc.html",
        ("machine ftp.example.com login ada password <alnum:16>",),
        ("machine x login y password <password>", "the machine needs a login and a password"),
        is_no_placeholder,
    ),
    Rule(
        "password",
        "credential",
        "a password",
        "line",
        _PASSWORD_LITERALS,
        rb"(?i)(?:" + _PASSWORD_NAMES + rb"|(?:(?<![a-z])|db|ftp|mail|pg|root|smtp|user)pass)"
        rb"(?:_?\d{1,2}| ?\([^()\n]{1,40}\))?" + _SIGN + _VALUE,
        _SOURCE,
        (
            "password: hunter2",
            'password="<mixed:12>"',
            "DB_PASSWORD=<alnum:16>",
            '"dbPassword": "<alnum:12>"',
            "contraseña: <alnum:12>",
            "密码：<alnum:12>",
            "**Password:** `<alnum:12>`",
        ),
        (
            "password: required",
            "password=${PASSWORD}",
            "password = getpass.getpass()",
            "password_reset_url: https://example.com/r3set",
            "password: [REDACTED:credential]",
            "password: at-least-12-characters",
            "PASSWORD: str = Field(min_length=12)",
            "bypass: 2026-11-30",
        ),
        is_password,
    ),
    Rule(
        "spoken-password",
        "credential",
        "a password",
        "line",
        (*_PASSWORD_LITERALS, "secret", "token", "key"),
        rb"(?i)(?<![a-z])(?:" + _PASSWORD_NAMES + rb"|secret|token|api[ -]key)"
        rb"(?: (?:for|of|to|on|f\xc3\xbcr|de|del|pour)(?: [\w./-]{1,40}){1,4}?)?"
        rb"(?:[ \t]*(?:is|was|=|ist|lautet|es|est|\xc3\xa9|\xe6\x98\xaf|\xe3\x81\xaf|now)[ \t:]*"
        rb"|[ \t]{1,4}(?:\([^()\n]{1,40}\)[ \t]*:?[ \t]*)?|[ \t]*:[ \t]*)"
        rb"(?:\"(?P<s>[^\"\s]{6,4000}+)\"|'(?P<t>[^'\s]{6,4000}+)'|`(?P<u>[^`\s]{6,4000}+)`"
        rb"|(?P<v>[^\s\"'`,;\xe3\xef]{6,4000}(?<![.:)!?])))",
        _SOURCE,
        (
            "The staging password is <alnum:12>.",
            "password for the wiki is `<alnum:10>`",
            "Das Passwort lautet <alnum:12>, bitte",
            "mot de passe : <alnum:12>",
        ),
        (
            "The password is stored in 1Password, never here.",
            "password was base64-encoded",
            "the token is refreshed every 15m",
            "password (min 12 characters)",
        ),
        is_spoken_password,
    ),
    Rule(
        "secret",
        "credential",
        "a secret",
        "line",
        ("secret", "token", "key", "auth", "credential"),
        rb"(?i)(?:secret(?:[_ -]?access)?[_ -]?(?:key|token|value)?"
        rb"|(?:api|access|auth|private|encryption|account|master|signing|storage|admin|service|app"
        rb"|shared|license|deploy|session|webhook|client|jwt|hmac|cipher|refresh|security|bot"
        rb"|integration|subscription|user|hash)[_ -]?(?:key|token|secret)|_key|token|_auth|authkey"
        rb"|credentials?)(?:_?\d{1,2})?" + _SIGN + _VALUE,
        _SOURCE,
        (
            "api_key='<alnum:32>'",
            "client_secret=<url64:40>&grant_type=x",
            '"access_token": "<alnum:40>"',
            "aws_secret_access_key = <base64:40>",
            "x-api-key: <alnum:32>",
            "DD_API_KEY=<hex:32>",
            "AccountKey=<base64:86>==;EndpointSuffix=core.windows.net",
        ),
        (
            "token_type: bearer",
            "api_key = config.get('api_key')",
            "max_tokens=4096",
            "secretName: tls-certificate-prod",
            "api_key: <your-api-key>",
            "primary_key: user_id",
            "sort_key=created_at_descending",
            "token: 2026-11-30T16:46:17",
            "secret: true",
        ),
        is_key,
    ),
)
"""Order matters only for what Claude is told: the first rule that finds a place names it."""

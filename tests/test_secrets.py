"""Tokens known by their shape: found in each kind, never shown, and nothing else taken for one.

Every token here is made up at run time from parts, so that no scanner sees one in the tree.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import string
import time
import uuid
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from hypothesis import given
from hypothesis import strategies as st

from markers.hygiene import secrets
from markers.hygiene.secrets import Rule, find, safe_echo, shipped

REGISTRY = Path(__file__).parents[1] / "registry"
DIGITS, HEX, LOWER = string.digits, "0123456789abcdef", string.ascii_lowercase
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
URLSAFE = ALNUM + "-_"
B64 = ALNUM + "+/"

Dice = random.Random
Make = Callable[[Dice], str]


def rolled(seed: str | int) -> Dice:
    """Dice that fall the same way in each run."""
    return random.Random(seed)  # noqa: S311 (made-up tokens need no cryptographic luck)


def some(dice: Dice, alphabet: str, length: int) -> str:
    """*length* random characters of *alphabet*."""
    return "".join(dice.choices(alphabet, k=length))


def part(value: dict[str, Any]) -> str:
    """A JSON object as one part of a JSON Web Token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def jwt(dice: Dice) -> str:
    """A signed JSON Web Token."""
    head, body = {"alg": "HS256", "typ": "JWT"}, {"sub": some(dice, DIGITS, 9), "iat": 1516239022}
    return f"{part(head)}.{part(body)}.{some(dice, URLSAFE, 43)}"


def discord(dice: Dice) -> str:
    """A bot token: the bot's number in base64, a time, a signature."""
    number = str(dice.randrange(10**16, 3 * 10**18))
    first = base64.b64encode(number.encode()).decode().rstrip("=")
    return f"{first}.{some(dice, URLSAFE, 6)}.{some(dice, URLSAFE, 27)}"


def upload(host: str) -> Make:
    """An upload token of the Python package index; its prefix encodes the index's host."""
    prefix = base64.b64encode(b"\x02\x01" + bytes([len(host)]) + host.encode()).decode()
    return lambda dice: "pypi-" + prefix.rstrip("=") + some(dice, URLSAFE, 150)


def pem(kind: str) -> Make:
    """A private key block."""

    def make(dice: Dice) -> str:
        lines = "\n".join(some(dice, B64, 64) for _ in range(4))
        return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----"

    return make


def made(*pieces: str | tuple[str, int]) -> Make:
    """Fixed text and (alphabet, length) in turn."""
    return lambda dice: "".join(p if isinstance(p, str) else some(dice, *p) for p in pieces)


KINDS: dict[str, list[Make]] = {
    "github-token": [made("gh", letter, "_", (ALNUM, 36)) for letter in "pousr"],
    "github-installation-token": [
        made("ghs_", (DIGITS, 7), "_", (ALNUM, 20), ".", (URLSAFE, 90), ".", (URLSAFE, 86)),
        made("ghs_", (ALNUM, 24), ".", (ALNUM, 24), ".", (ALNUM, 24)),
    ],
    "github-fine-grained-token": [made("github", "_pat_", (ALNUM, 22), "_", (ALNUM, 59))],
    "aws-access-key-id": [
        made(prefix, (UPPER, 16)) for prefix in ("AKIA", "ASIA", "ABIA", "ACCA", "A3TX")
    ],
    "aws-secret-access-key": [
        made("aws_secret_access_key = '", (B64, 40), "'"),
        made("AWS_SECRET_ACCESS_KEY=", (B64, 40), "\n"),
        made('"SecretAccessKey": "', (B64, 40), '"'),
    ],
    "aws-bedrock-key": [made("ABSK", (B64, 128), "=")],
    "gcp-api-key": [made("AIza", (URLSAFE, 35))],
    "gcp-oauth-secret": [made("GOCS", "PX-", (URLSAFE, 28))],
    "gcp-access-token": [made("ya29", ".", (URLSAFE, 120))],
    "gcp-service-account": [
        made('{"type": "service_account", "private_key_', 'id": "', (HEX, 40), '"')
    ],
    "azure-account-key": [made("AccountName=x;Account", "Key=", (B64, 86), "==;")],
    "azure-shared-access-key": [made("SharedAccess", "Key=", (B64, 43), "=")],
    "azure-shared-access-signature": [made("?sv=2024&sig", "=", (ALNUM, 40), "%2B%2F%2B%3D")],
    "azure-client-secret": [made((ALNUM, 3), "8Q~", (URLSAFE, 34))],
    "azure-annotated-key": [made((ALNUM, 52), "JQQJ99", (ALNUM, 26))],
    "digitalocean-token": [made("do", letter, "_v1_", (HEX, 64)) for letter in "por"],
    "alibaba-access-key-id": [made(" LTAI", (ALNUM, 20), " ")],
    "heroku-token": [made("HRKU-", "AA", (URLSAFE, 58))],
    "flyio-token": [made("fm2_", (B64, 120))],
    "databricks-token": [made("dapi", (HEX, 32))],
    "planetscale-token": [made("pscale_", "tkn_", (URLSAFE, 43))],
    "supabase-token": [made("sbp_", (HEX, 40)), made("sb_", "secret_", (URLSAFE, 31))],
    "private-key": [
        pem(f"{kind}PRIVATE KEY{block}")
        for kind, block in (
            ("", ""),
            ("RSA ", ""),
            ("EC ", ""),
            ("DSA ", ""),
            ("OPENSSH ", ""),
            ("ENCRYPTED ", ""),
            ("PGP ", " BLOCK"),
        )
    ]
    + [made("---- BEGIN SSH2 ENCRYPTED PRIVATE", " KEY ----\n", (B64, 64))],
    "putty-key": [made("PuTTY-User-Key-", "File-2: ssh-rsa"), made("PuTTY-User-Key-", "File-3:")],
    "age-key": [made("AGE-SECRET-", "KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))],
    "jwt": [jwt],
    "url-credentials": [
        made("https://pat:", (ALNUM, 20), "@git.example/x"),
        made("redis://:", (ALNUM, 12), "@cache.example"),
    ],
    "gitlab-token": [
        made("gl", kind, "-", (URLSAFE, size))
        for kind, size in (
            ("pat", 20),
            ("dt", 20),
            ("ft", 20),
            ("soat", 20),
            ("rt", 20),
            ("cbt", 25),
            ("imt", 25),
            ("ptt", 40),
            ("agent", 50),
            ("oas", 64),
        )
    ],
    "gitlab-registration-token": [made("GR13", "48941", (URLSAFE, 20))],
    "atlassian-token": [made("ATA", "TT3xFf", (URLSAFE, 180)), made("ATBB", (ALNUM, 32))],
    "npm-token": [made("npm_", (ALNUM, 36))],
    "npm-auth-line": [
        lambda dice: f"//npm.example/:_auth{'Token'}={uuid.UUID(int=dice.getrandbits(128))}",
        made("//npm.example/:_auth", "Token=npm_", (ALNUM, 36)),
    ],
    "pypi-token": [upload(f"{name}pypi.{'org'}") for name in ("", "test.")],
    "rubygems-token": [made("rubygems_", (HEX, 48))],
    "nuget-key": [made("oy2", (LOWER, 43))],
    "crates-token": [made("cio", (ALNUM, 32))],
    "clojars-token": [made("CLOJARS_", (HEX, 60))],
    "docker-token": [made("dckr_", "pat_", (URLSAFE, 27))],
    "docker-auth": [made('{"auths": {"https://r.example": {"auth": "', (B64, 24), '="}}}')],
    "artifactory-key": [made("AKCp", (ALNUM, 69)), made("cmVm", "dGtu", (ALNUM, 56))],
    "vault-token": [made("hv", letter, ".", (URLSAFE, 90)) for letter in "sbr"],
    "terraform-token": [made((ALNUM, 14), ".atlas", "v1.", (URLSAFE, 67))],
    "pulumi-token": [made("pul-", (HEX, 40))],
    "doppler-token": [made("dp.pt.", (ALNUM, 43)), made("dp.st.dev.", (ALNUM, 43))],
    "onepassword-token": [
        made("ops_", "eyJ", (B64, 250)),
        made("A3-", *[x for n in (6, 6, 5, 5) for x in ((UPPER, n), "-")], (UPPER, 5)),
    ],
    "grafana-token": [made("glsa_", (ALNUM, 32), "_", (HEX, 8)), made("glc_", "eyJ", (B64, 60))],
    "sentry-token": [made("sntryu_", (HEX, 64)), made("sntrys_", "eyJ", (B64, 90))],
    "newrelic-key": [made("NRAK-", (UPPER, 27))],
    "netlify-token": [made("nfp_", (ALNUM, 36))],
    "linear-key": [made("lin_api_", (ALNUM, 40))],
    "postman-key": [made("PMAK-", (HEX, 24), "-", (HEX, 34))],
    "slack-token": [
        made("xox", letter, "-", (DIGITS, 12), "-", (DIGITS, 12), "-", (ALNUM, 24))
        for letter in "abopsr"
    ]
    + [made("xapp-", "1-A", (UPPER, 10), "-", (DIGITS, 13), "-", (HEX, 64))],
    "slack-webhook": [
        made(
            "https://hooks.slack", ".com/services/T", (UPPER, 8), "/B", (UPPER, 8), "/", (ALNUM, 24)
        )
    ],
    "discord-token": [discord],
    "discord-webhook": [
        made("https://discord.example/api/web", "hooks/", (DIGITS, 18), "/", (URLSAFE, 68))
    ],
    "teams-webhook": [
        made(
            "https://x.webhook",
            ".office.com/webhookb2/",
            (HEX, 36),
            "@",
            (HEX, 36),
            "/IncomingWebhook/",
            (HEX, 32),
            "/x",
        )
    ],
    "telegram-token": [made((DIGITS, 9), ":AA", (URLSAFE, 33))],
    "sendgrid-key": [made("SG.", (URLSAFE, 22), ".", (URLSAFE, 43))],
    "mailchimp-key": [made((HEX, 32), "-us", (DIGITS, 2))],
    "twilio-key": [made("SK", (HEX, 32)), made("AC", (HEX, 32))],
    "stripe-key": [
        made("sk_", "live_", (ALNUM, 24)),
        made("rk_", "live_", (ALNUM, 99)),
        made("sk_", "test_", (ALNUM, 24)),
    ],
    "square-token": [made("sq0", "csp-", (URLSAFE, 43)), made("sq0", "atp-", (URLSAFE, 22))],
    "shopify-token": [made("shpat_", (HEX, 32))],
    "openai-key": [
        made("sk-", (ALNUM, 20), "T3Blbk", "FJ", (ALNUM, 20)),
        made("sk-", "proj-", (URLSAFE, 74), "T3Blbk", "FJ", (URLSAFE, 74)),
    ],
    "anthropic-key": [made("sk-", "ant-api03-", (URLSAFE, 93), "AA")],
    "huggingface-token": [made("hf_", (string.ascii_letters, 34))],
    "replicate-token": [made("r8_", (ALNUM, 37))],
    "groq-key": [made("gsk_", (ALNUM, 52))],
    "xai-key": [made("xai-", (ALNUM, 80))],
    "perplexity-key": [made("pplx-", (ALNUM, 48))],
    "notion-token": [made("ntn_", (ALNUM, 46))],
    "airtable-token": [made("pat", (ALNUM, 14), ".", (HEX, 64))],
    "figma-token": [made("figd_", (URLSAFE, 40))],
}

CASES = [(rule, n) for rule, makes in KINDS.items() for n in range(len(makes))]
PLACES = (
    "{}",
    "see `{}` here",
    "> quoted\n> {}\n",
    "```\nTOKEN={}\n```",
    '{{"token": "{}"}}',
    "é日本 {} 😀",
    "- key: {}\r\n- more",
)


def ids(text: str) -> set[str]:
    """The rules that *text* breaks."""
    return {hit.rule.id for hit in find(text)}


def test_every_rule_has_its_kinds() -> None:
    """No rule of the table goes without a made-up token."""
    assert set(KINDS) == {rule.id for rule in shipped()}


@pytest.mark.parametrize(("rule", "kind"), CASES)
def test_token_is_found_wherever_it_stands(rule: str, kind: int) -> None:
    """A token of each kind is found in prose, code, quotes, JSON, and beside other scripts."""
    dice = rolled(f"{rule}{kind}")
    for place in PLACES * 3:
        text = place.format(KINDS[rule][kind](dice))
        assert rule in ids(text), place


def detectors() -> Iterator[tuple[str, Any]]:
    """The scanner's detectors that go by shape, by the name of their class."""
    for kind in get_mapping_from_secret_type_to_class().values():
        if kind.__name__ not in LEFT_OUT:
            yield kind.__name__, kind()


LEFT_OUT = {
    "Base64HighEntropyString": "entropy: hashes and pictures would be refused",
    "HexHighEntropyString": "entropy",
    "KeywordDetector": "any word after 'password:', which prose is full of",
    "IPPublicDetector": "an address is no secret",
    "CloudantDetector": "a hash after 'cl_key': no shape of its own",
    "IbmCloudIamDetector": "any 44 characters after 'key': no shape of its own",
    "IbmCosHmacDetector": "any 48 digits after 'key': no shape of its own",
    "SoftlayerDetector": "a hash after 'sl_key': no shape of its own",
}

SCANNED: dict[str, tuple[str, ...]] = {
    "ArtifactoryDetector": ("artifactory-key",),
    "AWSKeyDetector": ("aws-access-key-id", "aws-secret-access-key"),
    "AzureStorageKeyDetector": ("azure-account-key",),
    "BasicAuthDetector": ("url-credentials",),
    "DiscordBotTokenDetector": ("discord-token",),
    "GitHubTokenDetector": ("github-token",),
    "GitLabTokenDetector": ("gitlab-token", "gitlab-registration-token"),
    "JwtTokenDetector": ("jwt",),
    "MailchimpDetector": ("mailchimp-key",),
    "NpmDetector": ("npm-auth-line",),
    "OpenAIDetector": ("openai-key",),
    "PrivateKeyDetector": ("private-key", "putty-key"),
    "PypiTokenDetector": ("pypi-token",),
    "SendGridDetector": ("sendgrid-key",),
    "SlackDetector": ("slack-token", "slack-webhook"),
    "SquareOAuthDetector": ("square-token",),
    "StripeDetector": ("stripe-key",),
    "TelegramBotTokenDetector": ("telegram-token",),
    "TwilioKeyDetector": ("twilio-key",),
}


def test_each_detector_of_the_scanner_is_weighed() -> None:
    """A detector that a new release of the scanner brings must be taken up or left out."""
    assert {name for name, _ in detectors()} == set(SCANNED)


@pytest.mark.parametrize("name", sorted(SCANNED))
def test_what_the_scanner_finds_we_find(name: str) -> None:
    """Of random tokens of every kind, each that the scanner's detector sees is seen here, too."""
    detector = dict(detectors())[name]
    dice, seen = rolled(name), 0
    makes = [make for makes in KINDS.values() for make in makes]
    for make in [*makes, *[m for rule in SCANNED[name] for m in KINDS[rule]] * 40]:
        text = make(dice)
        if any(list(detector.analyze_string(line)) for line in text.split("\n")):
            seen += 1
            assert ids(text), "the scanner sees one that we do not"
    assert seen >= 5, "the scanner must be able to see what it is compared by"


PASSES = {
    "git object name": lambda dice: f"commit {some(dice, HEX, 40)} in {some(dice, HEX, 12)}",
    "named hash": lambda dice: f"sha256:{some(dice, HEX, 64)} key-{some(dice, HEX, 32)}",
    "hash in an assignment": lambda dice: f'aws_key_commit = "{some(dice, HEX, 40)}"',
    "integrity": lambda dice: f"sha512-{some(dice, B64, 86)}==",
    "uuid": lambda dice: f"id: {uuid.UUID(int=dice.getrandbits(128))}",
    "finding key": lambda dice: f"gh-{some(dice, DIGITS, 10)}-{some(dice, HEX, 8)}",
    "time and hash": lambda dice: f"{some(dice, DIGITS, 10)}:{some(dice, HEX, 40)}",
    "picture": lambda dice: f"![x](data:image/png;base64,{some(dice, B64, 4000)}==)",
    "public key": lambda dice: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(dice, B64, 43)}",
    "certificate": lambda dice: f"-----BEGIN CERTIFICATE-----\n{some(dice, B64, 64)}",
}

NO_TOKENS = (
    "Set GITHUB_TOKEN, the prefix is ghp_ or github_pat_; `ghs_` tokens may have dots.",
    "def test_ghs_installation_token_is_refused_when_it_has_dots(): ...",
    "def test_github_pat_is_refused_wherever_it_stands_in_the_text(): ...",
    "https://user:password@host.example and https://user:${TOKEN}@host.example",
    "https://<user>:<token>@host.example http://localhost:8080/a@b pat@example.org",
    "//npm.example/:_authToken=${NPM_TOKEN}",
    "self._auth = AuthenticationProvider(settings)  # task-proj-management",
    "AccountKey=... and xoxb-your-token and sk_live_... and AKIA...",
    'tests/test_spine.py::test_one eyJ is how a token begins: {"alg": ...}',
    "NotificationServiceFactory.create.everythingThatIsNeededHere",
)


@pytest.mark.parametrize("name", sorted(PASSES))
def test_no_entropy(name: str) -> None:
    """Hashes, identifiers, pictures and public keys pass, however random they look."""
    dice = rolled(name)
    for _ in range(60):
        assert ids(PASSES[name](dice)) == set()


@pytest.mark.parametrize("text", NO_TOKENS)
def test_words_about_tokens_pass(text: str) -> None:
    """Prefixes, placeholders and names that begin like a token are no token."""
    assert ids(text) == set()


@given(st.binary(max_size=600))
def test_encoded_bytes_pass(data: bytes) -> None:
    """Base64 and hexadecimal of anything pass."""
    assert (
        ids(f"{base64.b64encode(data).decode()} {data.hex()} {hashlib.sha256(data).hexdigest()}")
        == set()
    )


def test_hit_has_rule_and_line_and_no_value() -> None:
    """A hit names where it was found; LF, CRLF and CR count as one line end each."""
    token = KINDS["github-token"][0](rolled(1))
    (hit,) = find(f"a\r\nb\rc\n\n{token}")
    assert (hit.rule.id, hit.line) == ("github-token", 5)
    assert token not in repr(hit)


def test_each_rule_is_reported_once() -> None:
    """Two kinds are two hits, in the table's order; two of one kind are one."""
    dice = rolled(2)
    slack, github = KINDS["slack-token"][0], KINDS["github-token"][0]
    text = "\n".join([slack(dice), github(dice), github(dice)])
    assert [(hit.rule.id, hit.line) for hit in find(text)] == [
        ("github-token", 2),
        ("slack-token", 1),
    ]


def test_allowed_rule_is_silent() -> None:
    """A false hit is allowed by the rule's id, and only that rule's."""
    dice = rolled(3)
    text = KINDS["github-token"][0](dice) + "\n" + jwt(dice)
    assert {hit.rule.id for hit in find(text, allowed={"github-token"})} == {"jwt"}


def test_echo_hides_a_secret_that_is_cut() -> None:
    """What is shown of a refused line never holds a part of a token."""
    token = KINDS["github-token"][0](rolled(4))
    assert token[:12] not in safe_echo(f"{'x' * 60} {token}")
    assert safe_echo("<!-- plan-issue-12") == "<!-- plan-issue-12"


def table() -> dict[str, Any]:
    """The shipped table as it is on disk."""
    return import_module("tomllib").loads((REGISTRY / "secrets.toml").read_text("utf-8"))


def test_table_keeps_its_schema() -> None:
    """The table is valid by its declared schema; ids are unique, keywords fit the letter case."""
    schema = json.loads((REGISTRY / "schemas/secrets.schema.json").read_text("utf-8"))
    jsonschema_rs.validator_for(schema).validate(table())
    rules = secrets.parsed(table())
    assert rules == shipped()
    assert len({rule.id for rule in rules}) == len(rules)
    for rule in rules:
        assert not rule.ignore_case or all(k == k.lower() for k in rule.keywords), rule.id


@pytest.mark.parametrize("rule", shipped(), ids=lambda rule: rule.id)
def test_pattern_has_only_bounded_repetition(rule: Rule) -> None:
    """Nothing repeats without a bound, and no repetition of varying length is repeated."""
    assert not re.search(r"(?<!\\)(?:[*+]|\{\d*,\})(?![^\[]*\])", rule.pattern)
    assert not re.search(r"[}?]\)\{\d+,", rule.pattern)


def attacks(rule: Rule) -> Iterator[str]:
    """Inputs of 256 kB that make a careless pattern of this rule's kind slow."""
    size = 256 * 1024
    for keyword in rule.keywords or (".", "M"):
        for filler in ("", "a", "a" * 40, "A1", "-", ".", ":", "/", "0" * 31, " ", "key ", "_" * 9):
            yield ((keyword + filler) * (size // len(keyword + filler) + 1))[:size]


def test_no_input_is_slow() -> None:
    """Every pattern goes through 256 kB of its own prefix in far less than two seconds."""
    slowest = max((_seconds(rule, text), rule.id) for rule in shipped() for text in attacks(rule))
    assert slowest[0] < 2, slowest


def _seconds(rule: Rule, text: str) -> float:
    start = time.perf_counter()
    rule.compiled.search(text)
    return time.perf_counter() - start

"""Secrets that are told by their own shape: prefixes that providers give their keys, JSON web tokens, PEM blocks.

A shape must be so peculiar that no id, digest or image of a clean trace has it; secrets without one are found by the
name they stand under (`names`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# What may stand before a token. An escape such as `\n` of JSON inside a string ends in a letter of no word.
START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u00[0-9a-f]{2})|(?<=%[0-9A-Fa-f]{2}))"

SHORTEST = 12
"""Characters that follow every prefix below [count]; the scan of whole requests looks for them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How the tokens of one kind are written.

    Attributes:
        kind: name in the replacement and in the counters.
        prefix: regular expression of what a token begins with, in the syntax RE2 and Python share.
        rest: what follows, at least `SHORTEST` characters.
        keeps_name: the prefix up to its `=` is the name of a parameter, which stays.
        hint: what the scan of whole requests looks for in place of a prefix that could be anything.
        is_mixed: the rest must hold a capital, a small letter and a digit, as words written with hyphens do not.
    """

    kind: str
    prefix: str
    rest: str
    is_mixed: bool = False
    keeps_name: bool = False
    hint: str = ""


SHAPES = (
    Shape("aws_access_key", r"(?:AKIA|ASIA|ABIA|ACCA)", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Shape(
        "aws_signature",
        r"X-Amz-(?:Signature|Security-Token|Credential)=",
        r"[A-Za-z0-9%/+=_-]{16,4096}",
        keeps_name=True,
    ),
    Shape("azure_signature", r"sig=", r"[A-Za-z0-9%/+=_-]{20,200}", keeps_name=True),
    Shape("azure_storage_key", r"AccountKey=", r"[A-Za-z0-9+/]{40,100}={0,2}", keeps_name=True),
    Shape("github_token", r"gh[pousr]_", r"[A-Za-z0-9]{30,255}"),
    Shape("github_token", r"github_pat_", r"[A-Za-z0-9_]{22,255}"),
    Shape("gitlab_token", r"gl(?:pat|dt|rt|ptt|cbt|oas|soat|ft|imt|agent)-", r"[A-Za-z0-9_.-]{20,300}"),
    Shape("slack_token", r"xox[abeoprs]-", r"[A-Za-z0-9-]{12,300}"),
    Shape("slack_token", r"xapp-", r"\d-[A-Za-z0-9-]{12,300}"),
    Shape("slack_webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/", r"[A-Za-z0-9_/-]{20,200}"),
    Shape("anthropic_key", r"sk-ant-", r"[A-Za-z0-9_-]{20,300}"),
    Shape("openai_key", r"sk-(?:proj|svcacct|admin|None)-", r"[A-Za-z0-9_-]{20,300}"),
    Shape("openrouter_key", r"sk-or-", r"[A-Za-z0-9_-]{20,200}"),
    Shape("langfuse_key", r"sk-lf-", r"[A-Za-z0-9-]{20,100}"),
    Shape("api_key", r"sk-", r"[A-Za-z0-9_-]{20,300}", is_mixed=True),
    Shape("api_key", r"sk-", r"[0-9a-f]{32,128}(?![A-Za-z0-9])"),
    Shape("google_api_key", r"AIza", r"[0-9A-Za-z_-]{35}"),
    Shape("google_oauth", r"ya29\.", r"[0-9A-Za-z_-]{20,2048}"),
    Shape("google_oauth", r"GOCSPX-", r"[0-9A-Za-z_-]{20,64}"),
    Shape("google_oauth", r"1//0", r"[0-9A-Za-z_-]{35,200}", is_mixed=True),
    Shape("stripe_key", r"[srp]k_(?:live|test)_", r"[0-9A-Za-z]{16,250}"),
    Shape("stripe_key", r"whsec_", r"[0-9A-Za-z+/=]{24,250}"),
    Shape("huggingface_token", r"hf_", r"[A-Za-z0-9]{30,100}"),
    Shape("huggingface_token", r"api_org_", r"[A-Za-z0-9]{30,100}"),
    Shape("npm_token", r"npm_", r"[A-Za-z0-9]{36}"),
    Shape("pypi_token", r"pypi-AgE", r"[A-Za-z0-9_-]{50,1024}"),
    Shape("sendgrid_key", r"SG\.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}"),
    Shape("mailgun_key", r"key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    Shape("twilio_key", r"SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    Shape("groq_key", r"gsk_", r"[A-Za-z0-9]{40,100}"),
    Shape("xai_key", r"xai-", r"[A-Za-z0-9]{40,200}"),
    Shape("perplexity_key", r"pplx-", r"[A-Za-z0-9]{40,100}"),
    Shape("replicate_token", r"r8_", r"[A-Za-z0-9]{30,60}"),
    Shape("fireworks_key", r"fw_", r"[A-Za-z0-9]{22,60}", is_mixed=True),
    Shape("tavily_key", r"tvly-", r"[A-Za-z0-9-]{20,100}"),
    Shape("nvidia_key", r"nvapi-", r"[A-Za-z0-9_-]{40,100}"),
    Shape("langsmith_key", r"(?:lsv2_(?:pt|sk)_|ls__)", r"[0-9a-f]{20,64}(?:_[0-9a-f]{6,20})?"),
    Shape("pinecone_key", r"pcsk_", r"[A-Za-z0-9_]{40,120}"),
    Shape("databricks_token", r"dapi", r"[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    Shape("digitalocean_token", r"do[opr]_v1_", r"[0-9a-f]{64}"),
    Shape("shopify_token", r"shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    Shape("linear_key", r"lin_api_", r"[A-Za-z0-9]{32,64}"),
    Shape("notion_token", r"ntn_", r"[A-Za-z0-9]{40,64}"),
    Shape("vault_token", r"hv[sbr]\.", r"[A-Za-z0-9_-]{24,300}"),
    Shape("postman_key", r"PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    Shape("newrelic_key", r"NR(?:AK|JS|AA|RA)-", r"[A-Z0-9a-f-]{19,64}"),
    Shape("grafana_token", r"gl(?:sa|c)_", r"[A-Za-z0-9_+/=]{32,500}"),
    Shape("sentry_token", r"sntry[su]_", r"[A-Za-z0-9_+/=-]{40,500}"),
    Shape("supabase_token", r"sb(?:p_|_secret_)", r"[A-Za-z0-9_]{30,64}"),
    Shape("atlassian_token", r"ATATT3", r"[A-Za-z0-9_=-]{40,400}"),
    Shape("airtable_token", r"pat[A-Za-z0-9]{14}\.", r"[0-9a-f]{64}"),
    Shape("figma_token", r"figd_", r"[A-Za-z0-9_-]{40,64}"),
    Shape("planetscale_token", r"pscale_(?:tkn|pw|oauth)_", r"[A-Za-z0-9_.-]{30,64}"),
    Shape("doppler_token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"[A-Za-z0-9_.-]{40,64}"),
    Shape("docker_token", r"dckr_(?:pat|oat)_", r"[A-Za-z0-9_-]{24,64}"),
    Shape("age_key", r"AGE-SECRET-KEY-1", r"[0-9A-Z]{50,64}"),
    Shape("telegram_token", r"[0-9]{8,10}:AA", r"[A-Za-z0-9_-]{32,36}(?![A-Za-z0-9])", hint=":AA"),
    Shape("azure_client_secret", r"[A-Za-z0-9_~.]{3}[78]Q~", r"[A-Za-z0-9_~.-]{31,34}", hint="[78]Q~"),
    Shape("jwt", r"eyJ", r"[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{2,16384}(?:\.[A-Za-z0-9_-]{0,8192}){0,3}"),
)

TOKEN = re.compile(f"{START}(?:{'|'.join(f'(?P<k{n}>{s.prefix}{s.rest})' for n, s in enumerate(SHAPES))})")

TOKEN_HINT = (
    "(?:" + "|".join(dict.fromkeys(s.hint or s.prefix for s in SHAPES)) + rf")[0-9A-Za-z_~%+/.=-]{{{SHORTEST}}}"
)
"""Matches wherever `TOKEN` does, and now and then elsewhere; for RE2, on text or on protobuf bytes."""

PEM_HINT = "PRIVATE KEY"
PEM = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# A block that was cut off has no end: what could be part of its body is taken.
PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=:,\s-]|\\+[nr])*")


def shape_of(number: int) -> Shape:
    """The shape behind group `k<number>` of `TOKEN`."""
    return SHAPES[number]


def is_mixed(text: str) -> bool:
    """Whether a text has capitals, small letters and digits, and is thus hardly made of words."""
    return any(c.isdigit() for c in text) and any(c.isupper() for c in text) and any(c.islower() for c in text)

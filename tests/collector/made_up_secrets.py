"""Secrets nobody uses, of every kind that is redacted, and strings that look a little like secrets and are none."""

import base64
import hashlib
import random
import string
import uuid

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"


def secrets(count: int, seed: int = 20) -> list[tuple[str, str, str]]:
    """(kind, text that holds a secret, the secret itself), kinds in turn."""
    dice = random.Random(seed)
    makers = list(_makers(dice).items())
    found = []
    for n in range(count):
        kind, make = makers[n % len(makers)]
        made = make()
        text, secret = made if isinstance(made, tuple) else (made, made)
        found.append((kind, text, secret))
    return found


def _makers(dice: random.Random) -> dict[str, object]:
    def some(alphabet: str, length: int) -> str:
        # A digit, a capital and a small letter, as a random key of this length has but for rare draws.
        start = [dice.choice([c for c in alphabet if test(c)] or [*alphabet]) for test in _KINDS]
        text = start + [dice.choice(alphabet) for _ in range(length - len(start))]
        dice.shuffle(text)
        body = "".join(text)
        return body if body[-1].isalnum() and body[0].isalnum() else "a" + body[1:-1] + "7"

    def b64(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def in_text(before: str, secret: str, after: str = "") -> tuple[str, str]:
        return before + secret + after, secret

    return {
        "aws_access_key": lambda: "AKIA" + some(string.ascii_uppercase + "234567", 16),
        "aws_session_key": lambda: "ASIA" + some(string.ascii_uppercase + "234567", 16),
        "aws_secret": lambda: in_text("aws_secret_access_key = ", some(ALNUM + "+/", 40)),
        "github": lambda: dice.choice(["ghp_", "gho_", "ghs_", "ghu_"]) + some(ALNUM, 36),
        "github_fine": lambda: "github_pat_" + some(ALNUM, 22) + "_" + some(ALNUM, 59),
        "gitlab": lambda: "glpat-" + some(URLSAFE, 20),
        "slack": lambda: f"xoxb-{some(string.digits, 12)}-{some(string.digits, 12)}-{some(ALNUM, 24)}",
        "slack_hook": lambda: in_text(
            "https://hooks.slack.com/services/", f"T{some(ALNUM, 8)}/B{some(ALNUM, 8)}/{some(ALNUM, 24)}"
        ),
        "openai": lambda: "sk-" + some(ALNUM, 48),
        "openai_project": lambda: "sk-proj-" + some(URLSAFE, 120),
        "anthropic": lambda: "sk-ant-api03-" + some(URLSAFE, 95),
        "openrouter": lambda: "sk-or-v1-" + some(HEX, 64),
        "google": lambda: "AIza" + some(URLSAFE, 35),
        "google_oauth": lambda: "ya29." + some(URLSAFE, 100),
        "stripe": lambda: dice.choice(["sk_live_", "rk_live_", "sk_test_"]) + some(ALNUM, 24),
        "huggingface": lambda: "hf_" + some(ALNUM, 34),
        "npm": lambda: "npm_" + some(ALNUM, 36),
        "pypi": lambda: "pypi-AgEIcHlwaS5vcmc" + some(URLSAFE, 120),
        "sendgrid": lambda: f"SG.{some(URLSAFE, 22)}.{some(URLSAFE, 43)}",
        "twilio": lambda: "SK" + some(HEX, 32),
        "groq": lambda: "gsk_" + some(ALNUM, 52),
        "xai": lambda: "xai-" + some(ALNUM, 80),
        "replicate": lambda: "r8_" + some(ALNUM, 37),
        "tavily": lambda: "tvly-" + some(ALNUM, 32),
        "langsmith": lambda: f"lsv2_pt_{some(HEX, 32)}_{some(HEX, 10)}",
        "databricks": lambda: "dapi" + some(HEX, 32),
        "telegram": lambda: some(string.digits, 10) + ":AA" + some(URLSAFE, 33),
        "azure_storage": lambda: in_text(
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", some(ALNUM + "+/", 86) + "=="
        ),
        "jwt": lambda: ".".join(
            [b64('{"alg":"HS256","typ":"JWT"}'), b64(f'{{"sub":"{some(HEX, 8)}"}}'), some(URLSAFE, 43)]
        ),
        "pem": lambda: (
            "-----BEGIN RSA PRIVATE KEY-----\n"
            + "\n".join(some(ALNUM + "+/", 64) for _ in range(8))
            + "\n-----END RSA PRIVATE KEY-----"
        ),
        "openssh": lambda: (
            "-----BEGIN OPENSSH PRIVATE KEY-----\n"
            + "\n".join(some(ALNUM + "+/", 70) for _ in range(5))
            + "\n-----END OPENSSH PRIVATE KEY-----\n"
        ),
        "bearer": lambda: in_text("Authorization: Bearer ", some(URLSAFE + ".", 40)),
        "basic": lambda: in_text(
            "authorization: Basic ", base64.b64encode(f"user:{some(ALNUM, 16)}".encode()).decode()
        ),
        "cookie": lambda: in_text("Cookie: ", f"session={some(ALNUM, 32)}; theme=dark"),
        "set_cookie": lambda: in_text("Set-Cookie: ", f"sid={some(ALNUM, 24)}; Path=/; HttpOnly"),
        "url_userinfo": lambda: in_text("postgres://", f"app:{some(ALNUM + '!$', 14)}", "@db.internal:5432/orders"),
        "url_token": lambda: in_text("https://", some(ALNUM, 40), "@github.com/acme/agents.git"),
        "password_json": lambda: in_text('{"user": "ada", "password": "', some(ALNUM + "!$&,", 14), '", "n": 3}'),
        "password_escaped": lambda: in_text(r"[{\"role\": \"user\", \"db_password\": \"", some(ALNUM, 16), r"\"}]"),
        "password_env": lambda: in_text("export DB_PASSWORD=", some(ALNUM + "!", 14), "\nexport DEBUG=1"),
        "api_key_json": lambda: in_text('{"apiKey":"', some(ALNUM, 32), '","q":"tides"}'),
        "api_key_hex": lambda: in_text("api_key: ", some(HEX, 32)),
        "api_key_query": lambda: in_text(
            "https://api.example.org/v1/tides?port=Leer&api_key=", some(HEX, 40), "&unit=m"
        ),
        "api_key_uuid": lambda: in_text("X-API-Key: ", str(uuid.UUID(int=dice.getrandbits(128), version=4))),
        "access_token": lambda: in_text('{"access_token": "', some(URLSAFE, 43), '", "token_type": "Bearer"}'),
        "client_secret": lambda: in_text("client_secret=", some(URLSAFE, 40), "&grant_type=client_credentials"),
        "option": lambda: in_text("curl-like --api-key ", some(ALNUM, 32), " --verbose"),
        "private_key_hex": lambda: in_text("private_key: 0x", some(HEX, 64)),
        "connection": lambda: in_text(
            "Server=db;Database=orders;User Id=app;Password=", some(ALNUM, 18) + "7", ";Encrypt=true"
        ),
        "password_xml": lambda: in_text("<user>ada</user><password>", some(ALNUM, 14), "</password>"),
        "mysql_option": lambda: in_text("mysql -h db -u app -p", some(ALNUM, 14), " orders"),
        "curl_user": lambda: in_text("curl -s -u app:", some(ALNUM + "!", 14), " https://example.org/a?b=1"),
        "sql_password": lambda: in_text("ALTER ROLE app WITH PASSWORD '", some(ALNUM, 14), "';"),
        "sql_identified": lambda: in_text("CREATE USER app IDENTIFIED BY '", some(ALNUM, 14), "';"),
        "presigned": lambda: in_text(
            "https://b.s3.amazonaws.com/k?X-Amz-Date=20261130T000000Z&X-Amz-Signature=", some(HEX, 64)
        ),
    }


_KINDS = (str.isdigit, str.isupper, str.islower)


def clean_strings(count: int, seed: int = 21) -> list[str]:
    """Ids, digests, images, addresses, dates, figures, code and prose without a secret in them."""
    dice = random.Random(seed)
    return [_CLEAN[n % len(_CLEAN)](dice) for n in range(count)]


def _hex(dice: random.Random, length: int) -> str:
    return "".join(dice.choice(HEX) for _ in range(length))


def _word(dice: random.Random) -> str:
    return dice.choice(_WORDS)


_WORDS = (
    *("tide", "harbour", "token", "tokens", "secret", "password", "key", "session", "cookie", "answer", "report"),
    *("risk-management", "task-planner", "desk-research", "disk-usage", "bearer", "basic", "authorization", "agent"),
    *("credentials", "retrieval", "embedding", "Sk-learn", "askew", "monkey", "keyboard", "passage"),
)
_CLEAN = (
    lambda d: str(uuid.UUID(int=d.getrandbits(128), version=4)),
    lambda d: hashlib.sha256(d.randbytes(8)).hexdigest(),
    lambda d: f"trace {_hex(d, 32)} span {_hex(d, 16)}",
    lambda d: "data:image/png;base64," + base64.b64encode(d.randbytes(3000)).decode(),
    lambda d: f"00-{_hex(d, 32)}-{_hex(d, 16)}-01",
    lambda d: f"https://example.org/{_word(d)}/@{_word(d)}/{d.randint(1, 9999)}?page=2&token_count={d.randint(1, 9)}",
    lambda d: f"20{d.randint(10, 39)}-0{d.randint(1, 9)}-17T1{d.randint(0, 9)}:30:00.{d.randint(100, 999)}Z",
    lambda d: f"{d.randint(1, 999)},{d.randint(100, 999)}.{d.randint(10, 99)} tokens at {d.random():.6f} USD",
    lambda d: f"The {_word(d)} of the {_word(d)} is {_word(d)}: see section {d.randint(1, 99)}.",
    lambda d: f'{{"input_tokens": {d.randint(1, 9999)}, "max_tokens": {d.randint(1, 9999)}, "token": "{_word(d)}"}}',
    lambda d: f"call_{''.join(d.choice(ALNUM) for _ in range(24))}",
    lambda d: f"chatcmpl-{''.join(d.choice(ALNUM) for _ in range(29))}",
    lambda d: f"msg_01{''.join(d.choice(ALNUM) for _ in range(22))} toolu_01{_hex(d, 22)}",
    lambda d: f"resp_{_hex(d, 48)} rs_{_hex(d, 48)} fc_{_hex(d, 48)}",
    lambda d: f"commit {_hex(d, 40)} by {_word(d)}@example.org",
    lambda d: f"sha512-{base64.b64encode(d.randbytes(64)).decode()}",
    lambda d: f"password = getpass.getpass()  # ask for the {_word(d)}",
    lambda d: f"api_key=os.environ['{_word(d).upper()}_API_KEY'], token=None, secret: str",
    lambda d: '{"password": {"type": "string", "description": "The user\'s password"}, "api_key": {"type": "string"}}',
    lambda d: f"next_page_token={''.join(d.choice(ALNUM) for _ in range(40))}",
    lambda d: f"https://{_word(d)}.example.org:8443/{_hex(d, 32)}/report.pdf#page={d.randint(1, 99)}",
    lambda d: f"Bearer authentication-and-authorization is explained in chapter {d.randint(1, 30)}",
    lambda d: f"git@github.com:acme/{_word(d)}.git ssh://git@example.org/{_word(d)}.git https://user@example.org/",
    lambda d: f"/usr/lib/python3.{d.randint(9, 14)}/site-packages/{_word(d)}/tokens.py:{d.randint(1, 999)}",
    lambda d: f"arn:aws:iam::{d.randint(10**11, 10**12 - 1)}:role/{_word(d)} i-{_hex(d, 17)} vpc-{_hex(d, 8)}",
    lambda d: (
        f"gpt-4o-mini-2024-07-18 claude-sonnet-4-5-20250929 sk-{_word(d)}-benchmark-{d.randint(2000, 2030)}-report"
    ),
    lambda d: f"the next token is '{_word(d)}' with log probability -{d.random():.5f}",
    lambda d: (
        f"thread_{''.join(d.choice(ALNUM) for _ in range(24))} asst_{''.join(d.choice(ALNUM) for _ in range(24))}"
    ),
    lambda d: f"10.{d.randint(0, 255)}.{d.randint(0, 255)}.{d.randint(0, 255)}:8080 fe80::{_hex(d, 4)}:{_hex(d, 4)}",
    lambda d: f"mkdir -p {_word(d)}/{_word(d)} && docker run -p {d.randint(1000, 9999)}:80 -u 1000:1000 {_word(d)}",
    lambda d: f"curl -s https://example.org/{_word(d)} | mysql -u {_word(d)} -P {d.randint(1000, 9999)} -p {_word(d)}",
    lambda d: (
        f"A {_word(d)} is identified by 'the {_word(d)}'; password reset: ask for --password {_word(d)[:0]}or a key"
    ),
    lambda d: f"sk_SK locale; Slovak: sk-SK; task-{_hex(d, 8)}-{_hex(d, 4)}",
)

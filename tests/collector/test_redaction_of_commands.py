"""Passwords on command lines and in SQL are replaced, and options and words that only look like them are not."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector import Privacy
from spanscore.collector.records import Encoding, Signal
from spanscore.collector.redaction.redactor import Redactor
from spanscore.collector.redaction.rules import Rules

RULES = Rules(Privacy(), b"k" * 32)

PLACES: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "in a sentence": lambda text: f"I ran: {text} and it worked.",
    "in JSON": lambda text: json.dumps({"command": f"cd /srv\n{text}\necho done"}),
    "in JSON in JSON": lambda text: json.dumps({"body": json.dumps({"command": text}), "n": 1}),
}


def redact(text: str) -> str:
    return RULES.redactor(Counter()).text(text)


# What is in ⟨ ⟩ has to go, and nothing else.
SECRETS = """
mysql -p⟨PASS⟩
mysql -u root -p⟨PASS⟩
mysql -u root -p⟨hunter⟩ shop -e 'select 1'
mysql -uroot -p⟨123456⟩
/usr/bin/mysqldump -h db -p'⟨it is open⟩' shop
mysqladmin -p"⟨sesame⟩" status
mariadb -u root -p⟨sesame⟩
docker exec db mysql -uroot -p⟨sesame⟩ -e "select 1"
mkdir -p out && mysql -p⟨sesame⟩ shop
CREATE USER a WITH PASSWORD '⟨x⟩'
CREATE ROLE a LOGIN PASSWORD '⟨sesame⟩' VALID UNTIL 'infinity'
alter role a with encrypted password '⟨it''s open⟩'
ALTER USER a WITH PASSWORD E'⟨sesame⟩'
ALTER LOGIN sa WITH PASSWORD = N'⟨sesame⟩'
CREATE USER 'a'@'%' IDENTIFIED BY '⟨x⟩'
CREATE USER a IDENTIFIED WITH caching_sha2_password BY '⟨sesame⟩' REQUIRE SSL
GRANT ALL ON shop.* TO 'a'@'h' IDENTIFIED BY PASSWORD '⟨*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29⟩'
create user a identified by "⟨sesame⟩"
CREATE USER scott IDENTIFIED BY ⟨tiger⟩
CREATE LOGIN scott IDENTIFIED BY N'⟨tiger⟩'
SET PASSWORD FOR 'a'@'h' = '⟨sesame⟩'
SET PASSWORD = PASSWORD('⟨sesame⟩')
PGPASSWORD=⟨x⟩
PGPASSWORD=⟨sesame⟩ psql -h db -p 5432 shop
export MYSQL_PWD='⟨open sesame⟩'
docker run -e POSTGRES_PASSWORD=⟨postgres⟩ -p 5432:5432 postgres:17
redis-cli -a ⟨x⟩
redis-cli -h cache -p 6379 -a ⟨sesame⟩ ping
redis-cli --pass ⟨sesame⟩ ping
curl -u user:⟨pass⟩
curl -u user:⟨pass⟩ https://example.org
curl -s 'https://example.org/a?b=1&c=2' -H "Accept: a; q=1" -u "user:⟨open sesame⟩"
curl -uuser:⟨pass⟩ https://example.org
curl -sSu user:⟨pass⟩ https://example.org
curl -fsSLu user:⟨pass⟩ https://example.org
curl -u user:'⟨open sesame⟩' https://example.org
curl -u user:"⟨pass⟩" https://example.org
curl --proxy-user=user:⟨pass⟩ https://example.org
deploy --password ⟨x⟩
deploy --password ⟨sesame⟩ --verbose
deploy --db-password=⟨sesame⟩ --verbose
deploy --password "⟨open sesame⟩"
sshpass -p ⟨x⟩
sshpass -p ⟨sesame⟩ ssh -p 22 host
sshpass -v -p⟨sesame⟩ scp a host:b
docker login -u ada -p ⟨sesame⟩ registry.example.org
mongosh -u ada -p ⟨sesame⟩
sqlcmd -S db -U sa -P ⟨sesame⟩
ldapsearch -D cn=ada -w ⟨sesame⟩
plink -pw ⟨sesame⟩ host
""".strip().splitlines()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("line", SECRETS)
def test_a_password_is_replaced_and_nothing_else(line: str, place: str) -> None:
    before, rest = line.split("⟨")
    secret, after = rest.split("⟩")
    whole = PLACES[place](before + secret + after)
    mark = RULES.redactor(Counter()).mark("password", secret)

    found = redact(whole)
    assert found == PLACES[place](before + mark + after)
    assert redact(found) == found


NO_SECRETS = r"""
-p 8080
python -m http.server -p 8080
docker run -p 8080:80 nginx
docker run --name mysql -p 3306:3306 mysql:8
docker run --name mysql -p3306:3306 mysql:8
docker run -u 1000:1000 curl
mkdir -p dir
mkdir -pv dir/sub
apt-get install -y mysql && mkdir -pv dir
password reset
A password reset was asked for.
The password 'must' have eight characters.
IDENTIFIED BY ?
IDENTIFIED BY :password
create user a identified by '%s'
create user a identified by '{password}'
create user a with password $1
ALTER ROLE a WITH PASSWORD '***'
The harbour is identified by the name of its town.
Patients identified by "number" are left out.
mysql -p shop
mysql -P 3306 -u root --port=3306
mysql -p$MYSQL_PASSWORD shop
find /var/lib/mysql -path x -print
psql -h db -p 5432 -U ada
redis-cli -p 6379 ping
redis-server -a; ls -a
curl -u "$USER:$PASS" https://example.org
curl -u user https://example.org
curl -u user:'$PASS' https://example.org
curl --silent-menu user:1 https://example.org
curl -I -p https://example.org
sshpass -e ssh -p 22 host
sshpass -f file ssh -p 22 host
ssh -p 22 host
The option --password is required.
Use --password or --password-file.
deploy --password <password>
deploy --password $PASSWORD
deploy --password "${PASSWORD}"
docker login --username ada --password-stdin
PGPASSWORD=$PW psql
PASSWORD=DB_PASSWORD
PASSWORD=os.environ["PASSWORD"]
PASSWORD=getpass.getpass()
sql = "IDENTIFIED BY '" + password + "'"
{"note": "log in with password", "x": "y z"}
["user", "password", "email"]
select identified, by, 'x' from signs
""".strip().splitlines()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("line", NO_SECRETS)
def test_what_is_none_stays(line: str, place: str) -> None:
    assert redact(PLACES[place](line)) == PLACES[place](line)


@pytest.mark.parametrize(
    ("words", "secret"),
    [
        (["sshpass", "-p", "sesame", "ssh", "-p", "2222", "host"], "sesame"),
        (["redis-cli", "-h", "cache", "-a", "sesame"], "sesame"),
        (["mongosh", "-p", "sesame"], "sesame"),
        (["docker", "run", "-p", "8080:80", "nginx"], None),
        (["mkdir", "-p", "directory"], None),
        (["mysql", "-p", "database"], None),
    ],
)
@pytest.mark.parametrize("encoding", Encoding)
def test_arguments_that_are_elements_of_an_array(
    words: list[str], secret: str | None, encoding: Encoding, tmp_path: Path
) -> None:
    from google.protobuf.json_format import MessageToJson

    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(name="run")
    arguments = span.attributes.add(key="process.command_args").value.array_value.values
    for word in words:
        arguments.add().string_value = word
    before = request.SerializeToString() if encoding is Encoding.PROTOBUF else MessageToJson(request).encode()
    after = Redactor(Privacy(), tmp_path, on_redact=lambda kinds: None).clean(Signal.TRACES, encoding, before)

    if secret is None:
        assert after == before
    else:
        assert secret.encode() not in after
        assert all(word.encode() in after for word in words if word != secret)


def test_a_password_in_an_argument_list_as_json_text() -> None:
    assert "sesame" not in redact('{"argv": ["sshpass", "-p", "sesame", "ssh", "host"]}')
    assert "sesame" not in redact('{"argv": ["deploy", "--password", "sesame"]}')
    assert "sesame" not in redact(json.dumps({"body": '["redis-cli", "-a", "sesame"]'}))

"""Every file of deploy/ parses, and is checked by the program that reads it in the end where that is here."""

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy import files
from tests.deploy.collector_options import OPTIONS, TAIL_SAMPLING_POLICIES

# What systemd asks for: units that can be checked where neither the user nor the program is installed.
STAND_INS = {"User": "root", "Group": "root"}


def test_no_file_is_left_out() -> None:
    known = {*files.YAML.values(), *files.UNITS.values(), files.CRONTAB, files.DOCKERFILE, files.IGNORED}
    known |= {files.SYSUSERS, files.DEPLOY / "README.md"}

    assert {path for path in files.DEPLOY.rglob("*") if path.is_file()} == known


def test_the_readme_names_every_file() -> None:
    text = (files.DEPLOY / "README.md").read_text(encoding="utf-8")
    paths = [path.relative_to(files.DEPLOY).as_posix() for path in files.DEPLOY.rglob("*") if path.is_file()]

    assert [path for path in paths if path != "README.md" and f"({path})" not in text] == []
    assert [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (files.DEPLOY / link).exists()] == []


@pytest.mark.parametrize("place", files.YAML)
def test_yaml_parses_and_repeats_no_key(place: str) -> None:
    class Strict(yaml.SafeLoader):
        pass

    def mapping(loader: Strict, node: yaml.MappingNode) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        assert len(keys) == len(set(keys)), f"{place}: {keys}"
        loader.flatten_mapping(node)
        return loader.construct_mapping(node)

    Strict.add_constructor("tag:yaml.org,2002:map", mapping)

    assert all(yaml.load_all(files.YAML[place].read_text(encoding="utf-8"), Strict))


@pytest.mark.parametrize("name", files.KUBERNETES)
def test_manifests_follow_the_schemas_of_kubernetes(name: str) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for item in files.documents(files.KUBERNETES[name]):
        kubernetes_validate.validate(item, kubernetes_validate.latest_version(), strict=True)


def test_an_unknown_field_of_a_manifest_is_noticed() -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    item = files.documents(files.KUBERNETES["score.yaml"])[0]
    item["spec"]["concurencyPolicy"] = "Forbid"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(item, kubernetes_validate.latest_version(), strict=True)


@pytest.fixture(scope="module")
def checkable_units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The units, with a program and a user that exist everywhere."""
    folder = tmp_path_factory.mktemp("units")
    for name, path in files.UNITS.items():
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            key, equals, value = line.partition("=")
            if key == "ExecStart":
                value = f"{shutil.which('true')} {value.partition(' ')[2]}"
            lines.append(f"{key}{equals}{STAND_INS.get(key, value)}")
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def systemd_analyze(*words: str | Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("there is no systemd-analyze here")
    # it looks for other units that ours name, which a container does not have
    return subprocess.run(
        [program, *words], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )


def test_systemd_finds_nothing_wrong_with_the_units(checkable_units: Path) -> None:
    done = systemd_analyze("verify", "--man=no", *(checkable_units / name for name in files.UNITS))
    about_ours = [line for line in done.stderr.splitlines() if "spanscore" in line]

    assert (done.returncode, about_ours) == (0, [])


def test_a_misspelt_setting_of_a_unit_is_noticed(checkable_units: Path, tmp_path: Path) -> None:
    unit = checkable_units / "spanscore-collect.service"
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text(encoding="utf-8").replace("ProtectSystem=", "ProtectSistem="), encoding="utf-8")

    assert "ProtectSistem" in systemd_analyze("verify", "--man=no", copy).stderr


@pytest.mark.parametrize("name", [name for name in files.UNITS if name.endswith(".service")])
def test_services_are_shut_in(checkable_units: Path, name: str) -> None:
    """At most 2.5 of systemd's ten points of exposure: 9.6 is a service without any hardening."""
    done = systemd_analyze("security", "--offline=true", "--threshold=25", "--no-pager", checkable_units / name)
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze cannot check units offline")

    assert done.returncode == 0, done.stdout.splitlines()[-1:]


def test_the_crontab_is_one() -> None:
    variables, jobs = files.crontab()
    field = r"(\*|\d+)(/\d+)?"

    assert [job.schedule for job in jobs if not re.fullmatch(rf"{field}( {field}){{4}}", job.schedule)] == []
    assert [job.command for job in jobs if "%" in job.command] == []  # cron takes it for the end of the line
    assert {"PATH", "SHELL"} <= variables.keys()
    assert files.CRONTAB.read_bytes().endswith(b"\n")  # without it cron leaves out the last line
    for job in jobs:
        assert subprocess.run(["sh", "-n", "-c", job.command], check=False).returncode == 0


@pytest.mark.parametrize("job", files.crontab()[1], ids=lambda job: job.command.partition("lock spanscore ")[2][:7])
@pytest.mark.parametrize(
    ("script", "mailed"),
    [
        ("echo '3 runs scored.'", ""),
        ("echo 'errors: the whole interval is above 0.01.'; exit 1", "errors: the whole interval is above 0.01.\n"),
        ("echo '3 runs scored.'; echo '! cost failed' >&2; exit 3", "! cost failed\n3 runs scored.\n"),
        ("echo '[deprecated]' >&2", "[deprecated]\n"),
    ],
    ids=["good", "alert", "failed", "warned"],
)
def test_cron_mails_what_went_wrong_and_nothing_else(
    job: files.CronJob, script: str, mailed: str, tmp_path: Path
) -> None:
    """Cron mails what a command prints, so what a firing alert says must be printed and the rest must not."""
    if shutil.which("flock") is None:
        pytest.skip("there is no flock here")
    program = tmp_path / "spanscore"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    command = job.command.replace("/etc/spanscore", str(tmp_path)).replace("/var/lib/spanscore", str(tmp_path))
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )

    assert done.stdout == mailed


def test_the_dockerfile_has_two_stages_and_copies_what_exists() -> None:
    known = {"ARG", "FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL"}
    known |= {"HEALTHCHECK", "ENTRYPOINT", "CMD"}
    copied = [rest.split()[:-1] for rest in files.instructions("COPY") if not rest.startswith("--from=")]

    assert {instruction for instruction, _ in files.dockerfile()} <= known
    assert files.instructions("FROM") == ["python:${PYTHON} AS build", "python:${PYTHON}"]
    assert re.fullmatch(r"PYTHON=3\.\d+\.\d+-slim-\w+", files.instructions("ARG")[0])
    assert [name for names in copied for name in names if not (files.ROOT / name).exists()] == []
    for script in files.instructions("RUN"):
        assert subprocess.run(["sh", "-n", "-c", script], check=False).returncode == 0


def sources() -> list[str]:
    return [name for rest in files.instructions("COPY") if not rest.startswith("--from=") for name in rest.split()[:-1]]


def test_the_builder_is_sent_what_the_dockerfile_copies() -> None:
    allowed = [line[1:] for line in files.IGNORED.read_text(encoding="utf-8").splitlines() if line.startswith("!")]

    assert sorted(sources()) == sorted(allowed)
    assert "*" in files.IGNORED.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_the_image_can_be_built_from_what_is_copied(tmp_path: Path) -> None:
    """What `pip install .` does first: a wheel of exactly these files."""
    for name in sources():
        source = files.ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".whl"]


def merged(*configurations: dict[str, Any]) -> dict[str, Any]:
    """Configurations of a Collector as it merges several `--config`: mappings add up, everything else is replaced."""
    result: dict[str, Any] = {}
    for configuration in configurations:
        for key, value in configuration.items():
            is_both = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], value) if is_both else value
    return result


def collectors() -> dict[str, dict[str, Any]]:
    """Every configuration that the comments tell to start a Collector with."""
    read = {name: files.documents(path)[0] for name, path in files.COLLECTORS.items()}
    started = {}
    for path in files.COLLECTORS.values():
        for names in re.findall(
            r"^#   .*otelcol-contrib((?: --config \S+)+)$", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            parts = names.replace("--config", "").split()
            started[" + ".join(parts)] = merged(*(read[part] for part in parts))
    assert {name for names in started for name in names.split(" + ")} == read.keys()
    return started


COLLECTORS = collectors()


@pytest.mark.parametrize("name", COLLECTORS)
def test_pipelines_of_the_collector_use_what_is_configured(name: str) -> None:
    configuration = COLLECTORS[name]
    service = configuration["service"]

    assert set(service.get("extensions", ())) == configuration.get("extensions", {}).keys()
    for pipeline in service["pipelines"].values():
        assert pipeline.keys() == {"receivers", "processors", "exporters"}
        for kind, used in pipeline.items():
            assert [component for component in used if component not in configuration[kind]] == []
        assert pipeline["processors"][0] == "memory_limiter"


def unknown_options(place: str, content: Any, options: Any) -> list[str]:
    """Options that the Collector does not have. `...` among the options stands for anything below."""
    if options is ... or not isinstance(content, dict):
        return []
    found = []
    for key, value in content.items():
        if key not in options:
            found.append(f"{place}::{key}")
        else:
            found += unknown_options(f"{place}::{key}", value, options[key])
    return found


@pytest.mark.parametrize("name", COLLECTORS)
def test_components_and_options_of_the_collector_exist(name: str) -> None:
    unknown = []
    for kind in ("receivers", "processors", "exporters", "extensions"):
        for component, content in COLLECTORS[name].get(kind, {}).items():
            type_name = component.partition("/")[0]
            assert type_name in OPTIONS[kind], f"there is no {type_name}"
            unknown += unknown_options(component, content, OPTIONS[kind][type_name])

    assert unknown == []


def test_policies_of_tail_sampling_are_of_known_kinds() -> None:
    policies = files.documents(files.COLLECTORS["tail-sampling.yaml"])[0]["processors"]["tail_sampling"]["policies"]
    unknown = [unknown_options(policy["name"], policy, TAIL_SAMPLING_POLICIES) for policy in policies]

    assert list(itertools.chain(*unknown)) == []
    assert [policy["type"] for policy in policies if policy["type"] not in policy] == []
    # one share that no property of a run decides, or nothing could be said about production as a whole
    assert "probabilistic" in {policy["type"] for policy in policies}


def test_patterns_of_redaction_hit_secrets_and_leave_usage_alone() -> None:
    redaction = files.documents(files.COLLECTORS["redaction.yaml"])[0]["processors"]["redaction"]
    blocked = [re.compile(pattern) for pattern in redaction["blocked_values"]]
    keys = [re.compile(pattern) for pattern in redaction["blocked_key_patterns"]]

    def is_blocked(text: str) -> bool:
        return any(pattern.search(text) for pattern in blocked)

    secrets = ["Authorization: Bearer abcdefghijklmnopqrstuvwxyz", "sk-" + "a1" * 12, "AKIA" + "A1B2" * 4]
    secrets += ["ghp_" + "a1" * 18, ".".join(["eyJ" + "a" * 12] * 3), "write to a.b@example.org", "4111 1111 1111 1111"]
    harmless = ["19.52 % of 8,234", "2026-11-30T01:02:03", "call 54611c32", "1790000000123456789", "task-list"]

    assert [text for text in secrets if not is_blocked(text)] == []
    assert [text for text in harmless if is_blocked(text)] == []
    for key, is_hit in (("http.request.header.authorization", True), ("api_key", True), ("user.email", True)):
        assert any(pattern.search(key) for pattern in keys) is is_hit
    assert not any(pattern.search("gen_ai.usage.input_tokens") for pattern in keys)

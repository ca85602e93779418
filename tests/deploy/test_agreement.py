"""The files of deploy/ agree with each other and with the product: ports, paths, users, tokens, times, memory."""

import itertools
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from spanscore.collector import DEFAULT_GRPC, DEFAULT_HTTP, CollectorLimits, Security
from spanscore.collector.auth import Authenticator
from spanscore.collector.collector import CLOSE_TIMEOUT_S
from spanscore.collector.config import parse_address
from tests.deploy import files

STORE = "/var/lib/spanscore"
SETTINGS = "/etc/spanscore"
PROGRAM = "/opt/spanscore/bin/spanscore"
USER = "10001"
GRPC, HTTP = (parse_address(address, option="")[1] for address in (DEFAULT_GRPC, DEFAULT_HTTP))
LIMITS = CollectorLimits()

CONTAINERS = files.containers()
COLLECTING = [container for container in CONTAINERS if container.words[0] == "collect"]
SERVICES = {name: files.unit(path) for name, path in files.UNITS.items() if name.endswith(".service")}
TIMERS = {name: files.unit(path) for name, path in files.UNITS.items() if name.endswith(".timer")}
MANIFESTS = [item for path in files.KUBERNETES.values() for item in files.documents(path)]
COMPOSE: dict[str, Any] = files.documents(files.COMPOSE)[0]


def one(items: list[Any]) -> Any:
    assert len(items) == 1, items
    return items[0]


def manifest(kind: str, name: str = "spanscore") -> Any:
    return one([item for item in MANIFESTS if item["kind"] == kind and item["metadata"]["name"] == name])


def start(name: str) -> str:
    """The command that a service runs."""
    return str(one(SERVICES[name]["Service"]["ExecStart"]))


# Ports


def test_everything_that_collects_listens_on_the_default_ports() -> None:
    image: list[str] = json.loads(one(files.instructions("CMD")))
    listening = [dict(itertools.pairwise(image))]
    words = start("spanscore-collect.service").split()
    listening.append(dict(itertools.pairwise(words)))
    listening += [{name: container.option(name) or "" for name in ("--grpc", "--http")} for container in COLLECTING]
    ports = [
        tuple(parse_address(options[name], option=name)[1] for name in ("--grpc", "--http")) for options in listening
    ]

    assert ports == [(GRPC, HTTP)] * 4
    assert one(files.instructions("EXPOSE")).split() == [str(GRPC), str(HTTP)]


def test_ports_are_published_and_probed_where_it_listens() -> None:
    service = manifest("Service")["spec"]["ports"]
    container = one([item for item in COLLECTING if item.place.startswith("kubernetes")]).spec
    named = {port["name"]: port["containerPort"] for port in container["ports"]}
    compose = COMPOSE["services"]["spanscore"]
    checks = [" ".join(compose["healthcheck"]["test"]), one(files.instructions("HEALTHCHECK"))]

    assert named == {"otlp-grpc": GRPC, "otlp-http": HTTP}
    assert {(port["port"], named[port["targetPort"]]) for port in service} == {(GRPC, GRPC), (HTTP, HTTP)}
    assert compose["ports"] == [f"127.0.0.1:{port}:{port}" for port in (GRPC, HTTP)]
    for check in checks:
        assert re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", check) == [(str(HTTP), "/readyz")]
    for probe, path in (("startupProbe", "/readyz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "otlp-http"}


def test_the_gateway_sends_to_the_service_by_its_name() -> None:
    gateway = files.documents(files.COLLECTORS["gateway.yaml"])[0]
    exporter = gateway["exporters"]["otlp_http"]
    endpoint = urlsplit(exporter["endpoint"])

    assert endpoint.port == HTTP
    assert endpoint.hostname in COMPOSE["services"]
    assert endpoint.hostname == manifest("Service")["metadata"]["name"]
    assert exporter["headers"] == {"Authorization": "Bearer ${env:SPANSCORE_TOKEN}"}
    assert exporter["sending_queue"]["storage"] in gateway["service"]["extensions"]
    assert exporter["retry_on_failure"]["max_elapsed_time"] == "0s"


def test_requests_of_the_gateway_are_taken() -> None:
    gateway = files.documents(files.COLLECTORS["gateway.yaml"])[0]
    queue = gateway["exporters"]["otlp_http"]["sending_queue"]

    assert queue["sizer"] == "bytes"
    assert queue["batch"]["min_size"] < queue["batch"]["max_size"] < LIMITS.max_request_bytes


def test_collectors_receive_on_the_default_ports() -> None:
    for path in files.COLLECTORS.values():
        protocols = files.documents(path)[0].get("receivers", {}).get("otlp", {}).get("protocols")
        if protocols is not None:
            assert {name: content["endpoint"] for name, content in protocols.items()} == {
                "grpc": f"0.0.0.0:{GRPC}",
                "http": f"0.0.0.0:{HTTP}",
            }


# Paths and users


def test_everything_works_on_one_store() -> None:
    cron_variables, jobs = files.crontab()
    in_units = [re.findall(r"--store (\S+)", start(name)) for name in SERVICES]
    in_cron = [re.findall(r"--store (\S+)", job.command) for job in jobs]

    assert [container.option("--store") for container in CONTAINERS] == [STORE] * len(CONTAINERS)
    assert in_units + in_cron == [[STORE]] * (len(SERVICES) + len(jobs))
    assert cron_variables["SPANSCORE_STORE"] == STORE
    assert f"SPANSCORE_STORE={STORE}" in " ".join(files.instructions("ENV")).split()
    assert files.instructions("VOLUME") == [STORE]
    for service in SERVICES.values():
        assert f"/var/lib/{one(service['Service']['StateDirectory'])}" == STORE
    assert {container.mounts[STORE] for container in CONTAINERS} == {"store"}
    assert "store" in COMPOSE["volumes"]


def test_every_volume_of_a_pod_exists_and_is_used() -> None:
    claim = manifest("PersistentVolumeClaim", "spanscore-store")
    for name, _, template in files.pods():
        volumes = {volume["name"]: volume for volume in template["spec"]["volumes"]}
        mounted = {mount["name"] for item in template["spec"]["containers"] for mount in item["volumeMounts"]}

        assert volumes.keys() == mounted, name
        assert volumes["store"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]


def test_settings_are_looked_for_in_one_place() -> None:
    """`score` and `evaluate` read spanscore.toml and ./evals of the directory they work in."""
    assert files.instructions("WORKDIR")[-1] == SETTINGS
    for name, service in SERVICES.items():
        assert one(service["Service"]["WorkingDirectory"]) == SETTINGS, name
        assert f"/etc/{one(service['Service']['ConfigurationDirectory'])}" == SETTINGS, name
    assert all(job.command.startswith(f"cd {SETTINGS} && ") for job in files.crontab()[1])
    for container in CONTAINERS:
        if container not in COLLECTING:
            assert SETTINGS in container.mounts, container.place
            assert container.spec.get("workingDir", SETTINGS) == SETTINGS


def test_one_user_owns_the_store() -> None:
    kind, name, _, *_, home = files.SYSUSERS.read_text(encoding="utf-8").splitlines()[-1].split()
    pods = [template["spec"]["securityContext"] for _, _, template in files.pods()]

    assert (kind, home) == ("u", STORE)
    assert {one(service["Service"]["User"]) for service in SERVICES.values()} == {name}
    assert {job.user for job in files.crontab()[1]} == {name}
    assert {container.user for container in CONTAINERS} == {f"{USER}:{USER}"} == set(files.instructions("USER"))
    assert [context["fsGroup"] for context in pods] == [int(USER)] * len(pods)
    assert f"--uid {USER}" in " ".join(files.instructions("RUN"))


def test_token_files_are_mounted_as_the_collector_wants_them(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Readable for the group of the pod, and for nobody else: the collector then finds nothing to warn of."""
    volumes = manifest("Deployment")["spec"]["template"]["spec"]["volumes"]
    mode = one([volume["secret"]["defaultMode"] for volume in volumes if "secret" in volume])
    tokens = tmp_path / "tokens"
    tokens.write_text("0123456789abcdef" * 4, encoding="utf-8")
    tokens.chmod(mode)
    Authenticator(Security(token_file=tokens))

    assert mode & 0o040
    assert caplog.text == ""


def test_the_program_is_called_where_it_is_installed() -> None:
    folder = PROGRAM.rpartition("/")[0]

    assert {start(name).split()[0] for name in SERVICES} == {PROGRAM}
    assert files.crontab()[0]["PATH"].split(":")[0] == folder
    assert f"PATH={folder}:$PATH" in " ".join(files.instructions("ENV"))
    assert f"python -m venv {folder.removesuffix('/bin')}" in " ".join(files.instructions("RUN"))


def test_what_is_installed_can_be_had() -> None:
    """Neither package is in an index: they are installed from a checkout or a wheel."""
    pages = [files.ROOT / "README.md", files.ROOT / "CONTRIBUTING.md", files.ROOT / "instrumentation" / "README.md"]
    pages += [path for folder in ("deploy", "docs", "examples") for path in (files.ROOT / folder).rglob("*")]
    sources = [path for folder in ("src", "instrumentation/src") for path in (files.ROOT / folder).rglob("*.py")]
    from_an_index = re.compile(r"(?:pip|pipx|uvx?)(?: \S+)* install(?: -\S+)* [\"']?spanscore[\w-]*(?![\w.*-]*\.whl)\b")
    wrong = [
        f"{path.relative_to(files.ROOT)}: {found[0]}"
        for path in [*pages, *sources]
        if path.is_file() and path.suffix not in (".pyc", ".gz", ".duckdb")
        for found in from_an_index.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]

    assert from_an_index.search("/opt/spanscore/bin/pip install spanscore\n")
    assert from_an_index.search("pip install --upgrade 'spanscore-instrumentation[otlp]'")
    assert not from_an_index.search("pip install ./spanscore-0.1.0-py3-none-any.whl")
    assert wrong == []


def test_the_documentation_installs_where_the_program_is_called() -> None:
    folder = PROGRAM.rpartition("/")[0]
    page = (files.ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    unit = files.UNITS["spanscore-collect.service"].read_text(encoding="utf-8")

    assert f"python3 -m venv {folder.removesuffix('/bin')} && {folder}/pip install .\n" in page
    assert f"{folder}/pip install ." in unit


def test_all_containers_run_the_image_that_is_built() -> None:
    tag = re.search(r"docker build -f (\S+) -t (\S+)", files.DOCKERFILE.read_text(encoding="utf-8"))

    assert tag is not None
    assert {container.image for container in CONTAINERS} == {tag[2]}
    build = COMPOSE["services"]["spanscore"]["build"]
    assert (files.COMPOSE.parent / build["context"]).resolve() == files.ROOT
    assert {tag[1], build["dockerfile"]} == {files.DOCKERFILE.relative_to(files.ROOT).as_posix()}


# Safety


def test_tokens_are_asked_for_where_other_machines_send() -> None:
    secret = one(COMPOSE["services"]["spanscore"]["secrets"])
    mounts = one([item for item in COLLECTING if item.place.startswith("kubernetes")]).mounts
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    volume = one([volume for volume in pod["volumes"] if "secret" in volume])
    created = re.search(
        r"kubectl create secret generic (\S+) --from-file=(\S+)", files.KUBERNETES["collector.yaml"].read_text()
    )
    asked_for = {container.place.partition("/")[0]: container.option("--token-file") for container in COLLECTING}

    assert secret in COMPOSE["secrets"]
    assert asked_for["container"] == f"/run/secrets/{secret}" in json.loads(one(files.instructions("CMD")))
    assert created is not None
    assert volume["secret"]["secretName"] == created[1]
    folder, _, key = str(asked_for["kubernetes"]).rpartition("/")
    assert (mounts[folder], key) == (volume["name"], created[2])
    for container in COLLECTING:
        assert not {"--insecure", "--insecure-no-auth"} & set(container.words)
    # no options for others: it listens on this machine alone
    assert f"--grpc {DEFAULT_GRPC} --http {DEFAULT_HTTP}" in start("spanscore-collect.service")


def test_containers_can_write_to_the_store_and_tmp_alone() -> None:
    for container in CONTAINERS:
        spec = container.spec
        if container.place.startswith("kubernetes"):
            assert spec["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            read_only = {mount["mountPath"] for mount in spec["volumeMounts"] if mount.get("readOnly")}
            assert container.mounts.keys() - read_only == {STORE, "/tmp"}
        else:
            assert (spec["read_only"], spec["cap_drop"]) == (True, ["ALL"])
            assert spec["security_opt"] == ["no-new-privileges:true"]
            assert [volume for volume in spec["volumes"] if not volume.endswith(":ro")] == [f"store:{STORE}"]
            assert one(spec["tmpfs"]).startswith("/tmp:")
    for _, _, template in files.pods():
        assert template["spec"]["automountServiceAccountToken"] is False
        assert template["spec"]["securityContext"]["runAsNonRoot"] is True


# One writer, one pass at a time


def test_one_collector_and_one_pass_at_a_time() -> None:
    deployment = manifest("Deployment")["spec"]
    claim = manifest("PersistentVolumeClaim", "spanscore-store")["spec"]

    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    assert claim["accessModes"] == ["ReadWriteOnce"]
    for name in ("spanscore-score", "spanscore-archive"):
        job = manifest("CronJob", name)["spec"]
        assert job["concurrencyPolicy"] == "Forbid"
        assert job["jobTemplate"]["spec"]["backoffLimit"] == 0
    for job in files.crontab()[1]:
        assert re.search(r"&& out=\$\(flock -n -E 0 /var/lib/spanscore/\w+\.cron\.lock spanscore ", job.command)
    assert {one(SERVICES[name]["Service"]["Type"]) for name in SERVICES if "collect" not in name} == {"oneshot"}


def test_pods_that_share_the_volume_run_beside_the_collector() -> None:
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]

    assert manifest("Deployment")["spec"]["selector"]["matchLabels"] == labels
    assert manifest("Service")["spec"]["selector"] == labels
    for _, item, template in files.pods():
        if item["kind"] == "CronJob":
            affinity = template["spec"]["affinity"]["podAffinity"]
            term = one(affinity["requiredDuringSchedulingIgnoredDuringExecution"])
            assert term["topologyKey"] == "kubernetes.io/hostname"
            assert term["labelSelector"]["matchLabels"] == labels
            # or the Service would send spans to it
            assert not labels.items() <= template["metadata"]["labels"].items()


# Times and memory


def test_the_schedules_are_the_same_everywhere() -> None:
    cron = {job.command.partition("lock spanscore ")[2].split()[0]: job.schedule for job in files.crontab()[1]}
    score = one([container for container in CONTAINERS if container.option("--every")])
    timer = TIMERS["spanscore-archive.timer"]["Timer"]

    assert cron == {name: manifest("CronJob", f"spanscore-{name}")["spec"]["schedule"] for name in ("score", "archive")}
    assert cron["score"] == "*/5 * * * *"
    assert score.option("--every") == "5m"
    assert one(TIMERS["spanscore-score.timer"]["Timer"]["OnUnitInactiveSec"]) == "5min"
    minute, hour, *_ = cron["archive"].split()
    assert one(timer["OnCalendar"]) == f"*-*-* {int(hour):02}:{int(minute):02}:00"
    assert {name.partition(".")[0] for name in TIMERS} == {
        name.partition(".")[0] for name in SERVICES if "collect" not in name
    }


def test_the_same_is_settled_and_archived_everywhere() -> None:
    lines = [" ".join(container.words) for container in CONTAINERS]
    lines += [start(name) for name in SERVICES] + [job.command for job in files.crontab()[1]]
    settled = [re.findall(r"--settle[ =](\S+)", line) for line in lines if re.search(r"\bscore\b .*--settle", line)]
    archived = [re.findall(r"--older-than[ =](\S+)", line) for line in lines if " --older-than" in line]

    assert (settled, archived) == ([["60"]] * 4, [["30d"]] * 3)


def test_a_collector_is_given_the_time_to_stop_in_good_order() -> None:
    needed = LIMITS.drain_s + CLOSE_TIMEOUT_S
    unit = SERVICES["spanscore-collect.service"]["Service"]

    assert int(one(unit["TimeoutStopSec"])) > 2 * needed
    assert one(unit["KillSignal"]) == one(files.instructions("STOPSIGNAL")) == "SIGTERM"
    assert [container.place for container in COLLECTING if container.stop_s <= 1.5 * needed] == []


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda container: container.place)
def test_duckdb_fits_into_the_memory_of_its_container(container: files.Container) -> None:
    duckdb = container.environment.get("SPANSCORE_MEMORY_LIMIT") or LIMITS.store_memory

    assert files.size(duckdb) * 1.2 < files.size(container.memory)


def test_duckdb_fits_into_the_memory_of_its_unit() -> None:
    for name, service in SERVICES.items():
        allowed = files.size(one(service["Service"]["MemoryMax"]))
        (duckdb,) = [
            value.partition("=")[2] for value in service["Service"].get("Environment", []) if "MEMORY_LIMIT" in value
        ] or [LIMITS.store_memory]
        assert files.size(duckdb) * 1.2 < allowed, name

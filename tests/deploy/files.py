"""What stands in deploy/, read with the parser of each format."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"

YAML = {path.relative_to(DEPLOY).as_posix(): path for path in sorted(DEPLOY.rglob("*.yaml"))}
YAML |= {path.relative_to(DEPLOY).as_posix(): path for path in sorted(DEPLOY.rglob("*.yml"))}
UNITS = {path.name: path for path in sorted((DEPLOY / "systemd").iterdir()) if path.suffix in (".service", ".timer")}
CRONTAB = DEPLOY / "cron" / "spanscore"
DOCKERFILE = DEPLOY / "container" / "Dockerfile"
IGNORED = DEPLOY / "container" / "Dockerfile.dockerignore"
SYSUSERS = DEPLOY / "systemd" / "spanscore.sysusers.conf"
COMPOSE = DEPLOY / "container" / "compose.yaml"
COLLECTORS = {path.name: path for path in sorted((DEPLOY / "opentelemetry-collector").glob("*.yaml"))}
KUBERNETES = {path.name: path for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))}
UNIT_SECTION = re.compile(r"\[(\w+)\]")

Section = dict[str, list[str]]


def documents(path: Path) -> list[Any]:
    """The YAML documents of a file."""
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def unit(path: Path) -> dict[str, Section]:
    """The sections of a systemd unit: every value of every key, in order."""
    sections: dict[str, Section] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith(("#", ";")):
            continue
        opened = UNIT_SECTION.fullmatch(line)
        if opened:
            name = opened[1]
            sections[name] = {}
            continue
        key, equals, value = line.partition("=")
        assert name, f"{path.name}: `{line}` stands before the first section"
        assert equals, f"{path.name}: `{line}` is no setting"
        sections[name].setdefault(key, []).append(value)
    return sections


@dataclass(frozen=True)
class CronJob:
    """One line of a system crontab."""

    schedule: str
    user: str
    command: str


def crontab() -> tuple[dict[str, str], list[CronJob]]:
    """The variables and jobs of the crontab."""
    variables, jobs = {}, []
    for line in CRONTAB.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        assigned = re.fullmatch(r"(\w+)=(.*)", line)
        if assigned:
            variables[assigned[1]] = assigned[2]
            continue
        *schedule, user, command = line.split(maxsplit=6)
        jobs.append(CronJob(" ".join(schedule), user, command))
    return variables, jobs


def dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def instructions(name: str) -> list[str]:
    """What stands after every instruction of one kind."""
    return [rest for instruction, rest in dockerfile() if instruction == name]


@dataclass(frozen=True)
class Container:
    """A container of compose or Kubernetes that runs spanscore."""

    place: str
    words: list[str]
    image: str
    user: str
    mounts: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    memory: str = ""
    stop_s: int = 0
    spec: dict[str, Any] = field(default_factory=dict)

    def option(self, name: str) -> str | None:
        """The value of an option of the command."""
        return next((word.partition("=")[2] for word in self.words if word.startswith(f"{name}=")), None)


def pods() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every pod template of the manifests: where, the object it belongs to, the template."""
    for name, path in KUBERNETES.items():
        for item in documents(path):
            if item["kind"] == "Deployment":
                yield name, item, item["spec"]["template"]
            elif item["kind"] == "CronJob":
                yield name, item, item["spec"]["jobTemplate"]["spec"]["template"]


def kubernetes_containers() -> Iterator[Container]:
    for name, _, template in pods():
        pod = template["spec"]
        security = pod["securityContext"]
        for container in pod["containers"]:
            yield Container(
                place=f"kubernetes/{name}",
                words=container["args"],
                image=container["image"],
                user=f"{security['runAsUser']}:{security['runAsGroup']}",
                mounts={mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]},
                environment={item["name"]: item["value"] for item in container.get("env", ())},
                memory=container["resources"]["limits"]["memory"],
                stop_s=pod["terminationGracePeriodSeconds"],
                spec=container,
            )


def compose_containers() -> Iterator[Container]:
    for name, service in documents(COMPOSE)[0]["services"].items():
        yield Container(
            place=f"container/compose.yaml: {name}",
            words=service["command"],
            image=service["image"],
            user=service["user"],
            mounts={volume.split(":")[1]: volume.split(":")[0] for volume in service["volumes"]},
            environment=service.get("environment", {}),
            memory=service["mem_limit"],
            stop_s=int(service["stop_grace_period"].removesuffix("s")),
            spec=service,
        )


def containers() -> list[Container]:
    """All containers that run spanscore."""
    return [*compose_containers(), *kubernetes_containers()]


def size(text: str) -> int:
    """Bytes of `1536m`, `3g`, `3G`, `1536Mi`, `2GiB`: what each format calls a mebi- or gibibyte."""
    number, unit_name = re.fullmatch(r"(\d+)([MG])(?:i?B?)?", text, re.IGNORECASE).groups()  # type: ignore[union-attr]
    return int(number) << {"m": 20, "g": 30}[unit_name.lower()]

"""Docker: what an image holds, what docker-compose.yml says, and that the oldest builder which it
promises builds all: that of engine 20.10.

Its builder without BuildKit knows no `COPY --chmod`, no mounts and no heredocs, and says so only
when it comes to that line, minutes into the build.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyspark
import pytest
import yaml
from api.served_api import Api
from warren.settings_file import load_settings
from warren_archiver import __main__ as application
from warren_archiver.session import given_options
from warren_notifier.channels.configured import channel_settings

ROOT = Path(__file__).parents[2]
FLAGS = {
    "FROM": {"platform"},
    "COPY": {"from", "chown"},
    "ADD": {"chown"},
    "HEALTHCHECK": {"interval", "timeout", "start-period", "retries"},
}
"""Flags of each instruction in builder/dockerfile of moby 20.10."""

INSTRUCTIONS = {
    *("ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL"),
    *("MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
}
BUILDKIT_ARGUMENTS = re.compile(r"\$\{?(TARGET|BUILD)(PLATFORM|OS|ARCH|VARIANT)\b")


def beyond_the_oldest(dockerfile: str) -> list[str]:
    """Each thing in it that the builder of engine 20.10 lacks."""
    found = []
    if re.match(r"#\s*(syntax|check)\s*=", dockerfile):
        found.append(dockerfile.partition("\n")[0])
    lines = "\n".join(line for line in dockerfile.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n", " ", lines).splitlines():
        if not (words := line.split()):
            continue
        instruction, *rest = words
        instruction = instruction.upper()
        if instruction not in INSTRUCTIONS:
            found.append(instruction)
        for word in rest:
            if not (flag := re.match(r"--([a-z-]+)", word)):
                break
            if flag[1] not in FLAGS.get(instruction, set()):
                found.append(f"{instruction} --{flag[1]}")
        if instruction in ("RUN", "COPY", "ADD") and re.search(r"<<-?[\"']?\w", line):
            found.append(f"{instruction} <<")
        if variable := BUILDKIT_ARGUMENTS.search(line):
            found.append(variable[0])
    return found


def dockerfiles() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--", "*Dockerfile*", "*.dockerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()


def test_there_are_some() -> None:
    assert "deploy/docker/archiver.Dockerfile" in dockerfiles()


@pytest.mark.parametrize("path", dockerfiles())
def test_the_oldest_promised_builder_builds_it(path: str) -> None:
    assert beyond_the_oldest((ROOT / path).read_text()) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("COPY --chmod=755 a /b", ["COPY --chmod"]),
        ("COPY --from=build --link a /b", ["COPY --link"]),
        ("ADD --checksum=sha256:0 a /b", ["ADD --checksum"]),
        (
            "RUN --mount=type=cache,target=/c \\\n --network=none make",
            ["RUN --mount", "RUN --network"],
        ),
        ("RUN <<EOF\necho\nEOF", ["RUN <<", "ECHO", "EOF"]),
        ("COPY <<'EOF' /b", ["COPY <<"]),
        ("# syntax=docker/dockerfile:1\nFROM a", ["# syntax=docker/dockerfile:1"]),
        ("FROM --platform=$BUILDPLATFORM a", ["$BUILDPLATFORM"]),
        ("RUN cc --mount x # no flag of RUN", []),
        ("HEALTHCHECK --interval=5s --start-interval=1s CMD a", ["HEALTHCHECK --start-interval"]),
        ("COPY --from=build --chown=1 a /b", []),
    ],
)
def test_what_it_lacks_is_found(line: str, found: list[str]) -> None:
    assert beyond_the_oldest(line) == found


ONLY_WHEN_INSTALLED = {"--no-install-project", "--no-cache"}


def packages(service: str) -> set[str]:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    extra = compose["services"][service]["build"]["args"].get("EXTRA", service)
    dockerfile = (ROOT / "deploy/docker/Dockerfile").read_text()
    found = re.search(r"^RUN uv sync (.+--no-install-project.+)$", dockerfile, re.MULTILINE)
    assert found is not None
    asked = found[1].replace('"', "").replace("${EXTRA:-$SERVICE}", extra).split()
    options = [option for option in asked if option not in ONLY_WHEN_INSTALLED]
    run = [sys.executable, "-m", "uv", "export", "--offline", "--no-hashes", *options]
    lines = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line.partition("==")[0] for line in lines.splitlines()}


def test_the_notifier_has_the_library_of_its_apprise_channels() -> None:
    others = {"apprise", "pyspark", "faust-streaming", "fastapi"}
    assert packages("notifier") & others == {"apprise"}


@pytest.mark.parametrize("service", ["collector", "evaluator", "api"])
def test_the_others_have_nothing_of_it(service: str) -> None:
    assert "apprise" not in packages(service)


COMPOSE = ROOT / "deploy/compose"
OF_THE_USER = {"kafka-password", "kafka-ca.pem"}


@pytest.mark.parametrize("name", ["warren.toml", "own-cluster.toml"])
def test_services_in_containers_take_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Each secret that they name is drawn by secrets.sh, or the user's."""
    text = (COMPOSE / "settings" / name).read_text()
    drawn = set(re.findall(r"put \$WARREN (bundled-\S+)", (COMPOSE / "secrets.sh").read_text()))
    for secret in re.findall(r"/run/secrets/([\w.-]+)", text):
        assert secret in drawn | OF_THE_USER
        word = "redis://:it@valkey" if secret.endswith("url") else "whsec_" + 48 * "a"
        (tmp_path / secret).write_text(word)
    file = tmp_path / "warren.toml"
    file.write_text(text.replace("/run/secrets", str(tmp_path)))
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    for variable, value in composed["services"]["api"]["environment"].items():
        monkeypatch.setenv(variable, str(value))
    settings = load_settings(file)
    channel_settings(settings.notifier)
    served = Api(api=settings.api, is_loopback=False)
    for host, expected in (("localhost:8000", 200), ("api:8000", 200), ("evil.example:8000", 403)):
        assert served.get("/api/v1/groups", headers={"Host": host}).status_code == expected


# The descriptions of the archiver fit the settings, the image and the lock that there are.

DEPLOY = Path(__file__).parents[2] / "deploy"


def described(name: str) -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text()))


CONFIG_MAP, SCHEDULED = described("archiver-executors.yaml")
APPLICATION = SCHEDULED["spec"]["template"]
POD_SETTINGS, DEPLOYMENT = described("archiver.yaml")
DOCKERFILE = (DEPLOY / "docker/archiver.Dockerfile").read_text()


@pytest.mark.parametrize("settings", [CONFIG_MAP, POD_SETTINGS])
def test_its_settings_are_read(tmp_path: Path, settings: dict[str, Any]) -> None:
    text = settings["data"]["warren.toml"]
    for name in ("access-key", "secret-key"):
        (tmp_path / name).write_text(name)
        text = text.replace(f"/run/secrets/s3/{name}", str(tmp_path / name))
    file = tmp_path / "warren.toml"
    file.write_text(text)
    archiver = load_settings(file).archiver
    assert archiver.path.startswith("s3a://")
    assert given_options(archiver)["spark.hadoop.fs.s3a.access.key"] == "access-key"


def mounted(kind: str) -> str:
    spec = APPLICATION
    (volume,) = (one for one in spec["volumes"] if kind in one)
    (path,) = (
        one["mountPath"] for one in spec["driver"]["volumeMounts"] if one["name"] == volume["name"]
    )
    return str(path)


def test_what_it_names_is_where_it_says() -> None:
    spec: dict[str, Any] = APPLICATION
    assert spec["arguments"] == [
        "--config",
        f"{mounted('configMap')}/warren.toml",
    ]
    for secret in re.findall(r'_file" = "(.+)"', CONFIG_MAP["data"]["warren.toml"]):
        assert secret.startswith(mounted("secret") + "/")
    assert spec["sparkVersion"] == pyspark.__version__
    of_hadoop = spec["sparkConf"]["spark.jars.packages"].rsplit(":", 1)[1]
    jars_of_spark = Path(str(pyspark.__file__)).parent / "jars"
    assert (jars_of_spark / f"hadoop-client-api-{of_hadoop}.jar").exists()
    main = spec["mainApplicationFile"].removeprefix("local://")
    module = Path(str(application.__file__)).relative_to(Path(str(application.__file__)).parents[1])
    assert re.search(rf"ln -s \S+/site-packages/{module} {main}\b", DOCKERFILE)
    (jars,) = re.findall(r"WARREN_ARCHIVER__JARS_DIR=(\S+)", DOCKERFILE)
    for role in ("driver", "executor"):
        assert spec["sparkConf"][f"spark.{role}.extraClassPath"] == f"{jars}/*"


def test_the_one_pod_has_what_its_settings_name() -> None:
    pod = DEPLOYMENT["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert mounts.keys() == {each["name"] for each in pod["volumes"]}
    assert container["args"] == ["warren-archiver", "--config", f"{mounts['settings']}/warren.toml"]
    assert 'CMD ["warren-archiver"]' in DOCKERFILE
    given = tomllib.loads(POD_SETTINGS["data"]["warren.toml"])["archiver"]
    assert container["ports"] == [{"name": "metrics", "containerPort": given["metrics_port"]}]
    for name, file in given["spark"].items():
        assert not name.endswith("_file") or file.startswith(mounts["s3"] + "/")
    packages = APPLICATION["sparkConf"]["spark.jars.packages"]
    assert given["spark"]["spark.jars.packages"] == packages
    assert DEPLOYMENT["spec"]["replicas"] == 1

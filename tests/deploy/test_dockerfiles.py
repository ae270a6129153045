"""Dockerfiles keep to the oldest builder that docker-compose.yml promises: that of engine 20.10.

Its builder without BuildKit knows no `COPY --chmod`, no mounts and no heredocs, and says so only
when it comes to that line, minutes into the build.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

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

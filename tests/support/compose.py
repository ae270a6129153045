"""docker-compose.yml as a project of one's own: own name, ports, images and volumes."""

import json
import os
import subprocess
import uuid
from pathlib import Path
from typing import Any

from support.secured_kafka import login
from warren_local.server import free_port

TIMEOUT = 1800  # seconds; a cold build of eight images


def compose_command() -> list[str]:
    """Compose v2 (`docker compose`), else v1 (`docker-compose`)."""
    plugin = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
    return ["docker-compose"] if plugin.returncode else ["docker", "compose"]


class ComposeProject:
    """The services of the repository's docker-compose.yml, with the demo and ports for two APIs."""

    def __init__(self, root: Path) -> None:
        name = f"warren-test-{uuid.uuid4().hex[:8]}"
        self.kafka_port = free_port()
        #: Where copies of the API are reached: the first one at either.
        self.apis = [f"http://127.0.0.1:{self.kafka_port + number}" for number in (1, 2)]
        self._root = root
        self._command = compose_command()
        self._label = f"label=com.docker.compose.project={name}"
        self._environment = {
            **os.environ,
            "COMPOSE_PROJECT_NAME": name,
            "COMPOSE_PROFILES": "demo,archiver",
            "API_PORT": f"{self.kafka_port + 1}-{self.kafka_port + 2}",
            "KAFKA_PORT": str(self.kafka_port),
            "WARREN_VERSION": "test",
        }

    def client(self) -> dict[str, str]:
        """Properties of a client of the bundled Kafka."""
        file = "/run/secrets/bundled-kafka-password"
        password = self.run("exec", "-T", "collector", "cat", file).strip()
        return {"bootstrap.servers": f"127.0.0.1:{self.kafka_port}", **login("warren", password)}

    def run(self, *arguments: str) -> str:
        """Compose's output. Raises AssertionError with it when compose fails."""
        done = subprocess.run(
            [*self._command, *arguments],
            cwd=self._root,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    def containers(self, service: str = "") -> list[dict[str, Any]]:
        """What `docker inspect` says of the project's containers, stopped ones too."""
        ids = docker("ps", "-aq", "--filter", self._label).split()
        found = json.loads(docker("inspect", *ids)) if ids else []
        name = "com.docker.compose.service"
        return [each for each in found if service in ("", each["Config"]["Labels"][name])]

    def is_healthy(self, service: str = "") -> bool:
        """Whether each container runs and passes its health check, or has ended well."""
        states = [each["State"] for each in self.containers(service)]
        return all(
            state["Status"] in ("running", "exited")
            and state["ExitCode"] == 0
            and state.get("Health", {}).get("Status", "healthy") == "healthy"
            for state in states
        )

    def leftovers(self) -> list[str]:
        """Containers, volumes and networks that the project has."""
        listed = [
            docker(kind, "ls", "-q", "--filter", self._label) for kind in ("volume", "network")
        ]
        return [each["Name"] for each in self.containers()] + "".join(listed).split()


def docker(*arguments: str) -> str:
    return subprocess.run(
        ["docker", *arguments], capture_output=True, text=True, timeout=60, check=True
    ).stdout

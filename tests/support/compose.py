"""docker-compose.yml as a project of one's own: own name, ports, images and volumes."""

import json
import os
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Any

from warren_local.server import free_port

BUILD_TIMEOUT = 1800  # seconds; cold, eight images


def compose_command() -> list[str]:
    """Compose v2 (`docker compose`), else v1 (`docker-compose`). Raises FileNotFoundError."""
    plugin = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
    if plugin.returncode == 0:
        return ["docker", "compose"]
    if standalone := shutil.which("docker-compose"):
        return [standalone]
    raise FileNotFoundError("Docker is reachable, but compose (v2 or v1) is missing")


class ComposeProject:
    """The services of the repository's docker-compose.yml, with the demo and ports for two APIs."""

    def __init__(self, root: Path) -> None:
        self.name = f"warren-test-{uuid.uuid4().hex[:8]}"
        self.kafka_port = free_port()
        self._root = root
        self._command = [*compose_command(), "-p", self.name]
        self._environment = {
            **os.environ,
            "COMPOSE_PROFILES": "demo,archiver",
            "API_PORT": f"{self.kafka_port + 1}-{self.kafka_port + 2}",
            "KAFKA_PORT": str(self.kafka_port),
            "WARREN_VERSION": "test",
        }

    def client(self) -> dict[str, str]:
        """Properties of a client of the bundled Kafka."""
        return {
            "bootstrap.servers": f"127.0.0.1:{self.kafka_port}",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "warren",
            "sasl.password": self.run(
                *("exec", "-T", "collector", "cat", "/run/secrets/bundled-kafka-password")
            ).strip(),
        }

    def apis(self) -> list[str]:
        """Where each copy of the API is reached."""
        return [
            f"http://127.0.0.1:{published[0]['HostPort']}"
            for each in self.containers("api")
            if (published := each["NetworkSettings"]["Ports"]["8000/tcp"])
        ]

    def run(self, *arguments: str, timeout: float = 600) -> str:
        """Compose's output. Raises AssertionError with it when compose fails."""
        done = subprocess.run(
            [*self._command, *arguments],
            cwd=self._root,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    def containers(self, service: str = "") -> list[dict[str, Any]]:
        """What `docker inspect` says of the project's containers, stopped ones too."""
        labels = [f"com.docker.compose.project={self.name}"]
        if service:
            labels.append(f"com.docker.compose.service={service}")
        filters = [word for label in labels for word in ("--filter", f"label={label}")]
        ids = docker("ps", "--all", "--quiet", *filters).split()
        return list(json.loads(docker("inspect", *ids))) if ids else []

    def unhealthy(self, service: str = "") -> list[str]:
        """Containers that neither run nor have ended well, or whose healthcheck does not pass."""
        return [
            f"{container['Name']} {state['Status']} {state.get('Health', {}).get('Status', '')}"
            for container in self.containers(service)
            if (state := container["State"])["Status"] not in ("running", "exited")
            or state["ExitCode"] != 0
            or state.get("Health", {}).get("Status", "healthy") != "healthy"
        ]

    def leftovers(self) -> list[str]:
        """Containers, volumes and networks that the project has."""
        label = f"label=com.docker.compose.project={self.name}"
        volumes = docker("volume", "ls", "--quiet", "--filter", label)
        networks = docker("network", "ls", "--quiet", "--filter", label)
        return [
            *(container["Name"] for container in self.containers()),
            *volumes.split(),
            *networks.split(),
        ]


def docker(*arguments: str) -> str:
    return subprocess.run(
        ["docker", *arguments], capture_output=True, text=True, timeout=60, check=True
    ).stdout

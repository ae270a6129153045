"""The Helm chart: what it renders runs; Warren, Kubernetes and `restricted` accept it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import kubernetes_validate
import pytest
import yaml
from conftest import Broker
from support.waiting import eventually
from warren.entry import own_version
from warren.settings import Settings
from warren_local.server import free_port

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy/helm/warren"
HELM = shutil.which("helm") or shutil.which(ROOT / ".warren/bin/helm")
SERVICES = {"collector", "evaluator", "api", "freshness", "notifier"}
EVERYTHING = [
    *("archiver", "networkPolicy", "ingress", "httpRoute"),
    *("serviceMonitor", "prometheusRule", "dashboards"),
]
CLUSTER = "--set=settings.clusters.prod.bootstrap=kafka:9092"
ALL_ON = [f"--set={name}.enabled=true" for name in EVERYTHING]

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(HELM is None, reason="no helm: `make helm` installs it"),
]


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(HELM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rendered(*arguments: str, release: str = "warren") -> list[dict[str, Any]]:
    # A helm that was built from its module takes itself for one of Kubernetes 1.20.
    made = helm("template", release, str(CHART), "--kube-version=1.31.0", CLUSTER, *arguments)
    assert made.returncode == 0, made.stderr
    return [each for each in yaml.safe_load_all(made.stdout) if each]


def pods(objects: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in objects:
        spec = each.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)  # of a CronJob
        pod = spec if each["kind"] == "Pod" else spec.get("template", {}).get("spec")
        if pod:
            yield each["metadata"]["name"], pod


def toml_of(objects: list[dict[str, Any]]) -> str:
    (text,) = (each["stringData"]["warren.toml"] for each in objects if each["kind"] == "Secret")
    return str(text)


def kinds(objects: list[dict[str, Any]]) -> set[str]:
    return {each["kind"] for each in objects}


def test_lint_and_version() -> None:
    linted = helm("lint", "--strict", str(CHART), CLUSTER)
    assert linted.returncode == 0, linted.stdout + linted.stderr
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == own_version()


def test_each_service_is_on_or_off() -> None:
    assert {name for name, _ in pods(rendered())} == {
        "warren-test",
        *(f"warren-{service}" for service in SERVICES),
    }
    for service in SERVICES:
        left = {name for name, _ in pods(rendered(f"--set={service}.enabled=false"))}
        assert f"warren-{service}" not in left
    with_archiver = rendered("--set=archiver.enabled=true")
    assert "warren-archiver" in dict(pods(with_archiver))
    assert "CronJob" in kinds(rendered("--set=archiver.enabled=true,archiver.kind=CronJob"))
    assert kinds(rendered(*ALL_ON)) >= {"Ingress", "HTTPRoute", "NetworkPolicy", "ServiceMonitor"}


@pytest.mark.parametrize("kind", ["Deployment", "CronJob"])
def test_kubernetes_takes_all_and_restricted_allows_the_pods(kind: str) -> None:
    objects = rendered(*ALL_ON, f"--set=archiver.kind={kind}")
    for each in objects:
        if each["kind"] not in ("HTTPRoute", "ServiceMonitor", "PrometheusRule"):
            kubernetes_validate.validate(each, "1.31", strict=True)
    found = list(pods(objects))
    assert len(found) == 7
    for name, pod in found:
        context = pod["securityContext"]
        assert (context["runAsNonRoot"], context["runAsUser"]) == (True, 10001), name
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            own = container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False
            assert own["readOnlyRootFilesystem"] is True
            assert own["capabilities"] == {"drop": ["ALL"]}
        assert not any("hostPath" in volume for volume in pod.get("volumes", ()))


@pytest.mark.parametrize(
    "set_",
    [
        ["settings.api.without_token=nothing"],
        ["settings.api.port=8443", "settings.api.tls_certificate=/c", "settings.api.tls_key=/k"],
        [f"settings.{service}.metrics_port=9200" for service in {*SERVICES, "archiver"} - {"api"}],
    ],
)
def test_its_settings_are_warrens_and_probes_ask_where_services_answer(set_: list[str]) -> None:
    objects = rendered(*ALL_ON, *(f"--set={each}" for each in set_))
    settings = Settings(**tomllib.loads(toml_of(objects)))
    given = set_[0].removeprefix("settings.").partition("=")
    service, _, name = given[0].partition(".")
    assert str(getattr(getattr(settings, service), name)) == given[2], "what is set wins"
    assert "warren.example.org" in settings.api.trusted_hosts
    assert list(settings.clusters) == ["prod"]
    served = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Service"}
    for name, pod in pods([each for each in objects if each["kind"] != "Pod"]):
        (container,) = pod["containers"]
        service = name.removeprefix("warren-")
        (port,) = (each["containerPort"] for each in container["ports"])
        own = getattr(settings, service)
        assert port == (own.port if service == "api" else own.metrics_port)
        scheme = "HTTPS" if service == "api" and own.tls_certificate else "HTTP"
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["scheme"] == scheme
        assert served[name]["spec"]["ports"][0]["name"] == scheme.lower(), "as it is scraped"
        assert container["args"] == [f"warren-{service}"]


def test_names_have_the_lengths_and_characters_that_kubernetes_takes() -> None:
    secrets = f"--set=secrets={{{'kafka.login' * 20}}}"
    arguments = [*ALL_ON, "--set=archiver.kind=CronJob", secrets]
    for each in rendered(*arguments, release="a" * 53):
        most = 52 if each["kind"] == "CronJob" else 63
        assert len(each["metadata"]["name"]) <= most
        for _, pod in pods([each]):
            names = [volume["name"] for volume in pod.get("volumes", ())]
            assert all(re.fullmatch("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name) for name in names)


def test_a_change_of_settings_restarts_and_a_secret_is_a_file() -> None:
    def checksum(*arguments: str) -> str:
        (of,) = (
            each["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]
            for each in rendered(*arguments)
            if each["metadata"]["name"] == "warren-collector" and each["kind"] == "Deployment"
        )
        return str(of)

    assert checksum() == checksum() != checksum("--set=settings.collector.interval=7")
    for _, pod in pods(rendered("--set=secrets={kafka-login}", "--set=archiver.enabled=true")):
        (container,) = pod["containers"]
        mounts = {each["mountPath"] for each in container.get("volumeMounts", ())}
        assert not mounts or "/etc/warren-secrets/kafka-login" in mounts


@pytest.mark.heavy
def test_what_is_rendered_runs(broker: Broker, redis_url: str, unique: str, tmp_path: Path) -> None:
    """Each Deployment's command, variables, settings and probes, as processes of this machine.

    Folders that are mounted are those of the test, and ports are free ones: in a cluster each pod
    has an address of its own.
    """
    here = {"home.bootstrap": broker.bootstrap, "clusters.prod.bootstrap": broker.bootstrap}
    here |= {"home.instance": unique, "redis.url": redis_url}
    objects = rendered(*(f"--set=settings.{name}={value}" for name, value in here.items()))
    toml = tmp_path / "warren.toml"
    toml.write_text(toml_of(objects).replace('"/tmp/', f'"{tmp_path}/'))
    waiting = {}
    with ExitStack() as closing:
        for name, pod in pods([each for each in objects if each["kind"] == "Deployment"]):
            (container,), service = pod["containers"], name.removeprefix("warren-")
            environment = {each["name"]: each["value"] for each in container["env"]}
            assert environment["WARREN_CONFIG"] == "/etc/warren/warren.toml"
            port = "PORT" if service == "api" else "METRICS_PORT"
            own = {
                "WARREN_CONFIG": str(toml),
                f"WARREN_{service.upper()}__{port}": str(free_port()),
            }
            program, *arguments = container["args"]
            process = subprocess.Popen(
                [Path(sys.executable).with_name(program), *arguments],
                env={"PATH": os.defpath, **environment, **own},
                cwd=tmp_path,
            )
            closing.callback(process.wait)
            closing.callback(process.terminate)
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                path = container[probe]["httpGet"]["path"]
                waiting[f"http://127.0.0.1:{own[f'WARREN_{service.upper()}__{port}']}{path}"] = name
        assert set(waiting.values()) == {f"warren-{service}" for service in SERVICES}
        for url, name in waiting.items():
            eventually(lambda url=url: _answers(url), timeout=90, message=f"{name}: {url}")


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=10).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize(
    "wrong",
    [
        "colector.enabled=false",
        "archiver.kind=Job",
        "collector.replicas=0",
        "settings.clusters=null",
    ],
)
def test_a_wrong_value_is_refused(wrong: str) -> None:
    refused = helm("template", "warren", str(CHART), "--kube-version=1.31.0", "--set", wrong)
    assert refused.returncode != 0
    assert "values don't meet the specifications" in refused.stderr


def test_a_cluster_is_named() -> None:
    refused = helm("template", "warren", str(CHART), "--kube-version=1.31.0")
    assert "settings.clusters: name a cluster to watch" in refused.stderr


def test_rules_and_dashboards_are_those_of_deploy() -> None:
    objects = rendered(*ALL_ON)
    (rule,) = (each["spec"] for each in objects if each["kind"] == "PrometheusRule")
    assert rule == yaml.safe_load((ROOT / "deploy/prometheus/warren-rules.yml").read_text())
    shown = {}
    for each in objects:
        if each["kind"] == "ConfigMap":
            shown |= each["data"]
    files = (ROOT / "deploy/grafana").glob("*.json")
    assert shown == {file.name: file.read_text() for file in files}

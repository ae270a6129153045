"""The chart at a real API server: installed, upgraded and rolled back under `restricted`.

`make kubernetes` runs it where KUBECONFIG points, in a namespace of its own.
"""

import os
import subprocess
from pathlib import Path

import pytest
from deploy.test_chart import CHART, CLUSTER, HELM, SERVICES
from support.waiting import eventually

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        not os.environ.get("WARREN_TEST_KUBECONFIG") or HELM is None,
        reason="no WARREN_TEST_KUBECONFIG: `make kubernetes` gives one",
    ),
]
NAMESPACE = f"warren-chart-{os.getpid()}"
# Without kinds that an operator brings along: ServiceMonitor, PrometheusRule, HTTPRoute.
PARTS = ("archiver", "networkPolicy", "ingress", "dashboards")
ON = [CLUSTER, *(f"--set={part}.enabled=true" for part in PARTS)]
LAB = f"""\
apiVersion: v1
kind: Namespace
metadata:
  name: {NAMESPACE}
  labels: {{pod-security.kubernetes.io/enforce: restricted}}
"""
PODS = f"""\
pods:
{{{{ range (lookup "v1" "Pod" "{NAMESPACE}" "").items }}}}
- {{{{ .metadata.name }}}}
{{{{ end }}}}
"""


def helm(*arguments: str | Path) -> str:
    environment = os.environ | {"KUBECONFIG": os.environ["WARREN_TEST_KUBECONFIG"]}
    ran = subprocess.run(
        [str(HELM), *arguments], capture_output=True, text=True, check=False, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def chart(folder: Path, template: str) -> Path:
    """One that has this template."""
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("{apiVersion: v2, name: lab, version: 1.0.0}")
    (folder / "templates/lab.yaml").write_text(template)
    return folder


def test_install_upgrade_and_rollback(tmp_path: Path) -> None:
    helm("install", "warren-lab", chart(tmp_path / "namespace", LAB))
    pods = chart(tmp_path / "pods", PODS)

    def have_pods() -> bool:
        """Admitted by PodSecurity: else their owners cannot make them."""
        shown = helm("template", pods, "--dry-run=server")
        return all(f"- warren-{service}-" in shown for service in (*SERVICES, "archiver"))

    of_release = ("warren", "-n", NAMESPACE)
    upgrade = ("upgrade", "--install", *of_release[1:], *ON, "warren", CHART)
    try:
        helm(*upgrade)
        eventually(have_pods, message="pods of all services are admitted")
        first = helm("get", "manifest", *of_release)
        helm(*upgrade, "--set=settings.collector.interval=7")
        assert helm("get", "manifest", *of_release) != first
        helm("rollback", *of_release)
        assert helm("get", "manifest", *of_release) == first
        helm("uninstall", *of_release)
    finally:
        helm("uninstall", "warren-lab")

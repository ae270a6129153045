"""The descriptions of the archiver fit the settings, the image and the lock that there are."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pyspark
import pytest
import yaml
from warren.settings_file import load_settings
from warren_archiver import __main__ as application
from warren_archiver.session import given_options

DEPLOY = Path(__file__).parents[2] / "deploy"


def described(name: str) -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text()))


CONFIG_MAP, APPLICATION = described("archiver-executors.yaml")
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
    spec = APPLICATION["spec"]
    (volume,) = (one for one in spec["volumes"] if kind in one)
    (path,) = (
        one["mountPath"] for one in spec["driver"]["volumeMounts"] if one["name"] == volume["name"]
    )
    return str(path)


def test_what_it_names_is_where_it_says() -> None:
    spec: dict[str, Any] = APPLICATION["spec"]
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
    packages = APPLICATION["spec"]["sparkConf"]["spark.jars.packages"]
    assert given["spark"]["spark.jars.packages"] == packages
    assert DEPLOYMENT["spec"]["replicas"] == 1

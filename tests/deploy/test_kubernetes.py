"""The Spark application's description fits the settings, the image and the lock that there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyspark
import yaml
from warren.settings_file import load_settings
from warren_archiver import __main__ as application
from warren_archiver.session import given_options

DEPLOY = Path(__file__).parents[2] / "deploy"
CONFIG_MAP, APPLICATION = yaml.safe_load_all((DEPLOY / "kubernetes/archiver.yaml").read_text())
DOCKERFILE = (DEPLOY / "docker/archiver.Dockerfile").read_text()


def test_its_settings_are_read(tmp_path: Path) -> None:
    text = CONFIG_MAP["data"]["warren.toml"]
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

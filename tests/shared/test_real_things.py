"""A test says which real things it starts."""

import pytest
from support.real_things import started_by

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("command", "starts"),
    [
        (["java", "-cp", "jars/*", "kafka.Kafka", "server.properties"], {"kafka"}),
        (["python", "-m", "warren_cli.main", "up", "--state-dir", "here"], {"kafka"}),
        (["python", "-m", "warren_cli.main", "up", "--help"], set()),
        (["java", "org.apache.spark.deploy.SparkSubmit", "pyspark-shell"], {"spark"}),
        (["/usr/bin/chromium", "--headless"], {"browser"}),
        (["docker", "compose", "version"], set()),
        (["docker", "compose", "up", "-d"], {"containers"}),
        (["valkey-server", "--port", "1"], {"servers"}),
    ],
)
def test_what_a_command_starts(command: list[str], starts: set[str]) -> None:
    assert started_by(command) == starts


def test_a_test_that_starts_what_it_has_no_marker_for_fails(
    pytester: pytest.Pytester, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(pytestconfig.rootpath / "tests"))
    pytester.makepyfile(
        """
        import subprocess, sys, pytest

        def run():
            subprocess.run([sys.executable, "-c", "", "valkey-server"], check=True)

        @pytest.fixture
        def valkey():
            run()

        def test_by_fixture(valkey):
            pass

        @pytest.mark.servers
        def test_marked():
            run()

        def test_unmarked():
            run()

        @pytest.mark.kafka
        def test_marked_otherwise():
            run()
        """
    )
    ran = pytester.runpytest_subprocess("-p", "support.real_things", "-m", "servers or not spark")
    ran.assert_outcomes(passed=2, failed=2)
    ran.stdout.fnmatch_lines(["*starts servers without the marker*"])
    chosen = pytester.runpytest_subprocess("-p", "support.real_things", "-m", "servers")
    chosen.assert_outcomes(passed=2, deselected=2)

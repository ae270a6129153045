"""`warren notify explain` and `warren notify test`."""

from itertools import count
from pathlib import Path

import pytest
from api.served_api import Api, Obeying, served
from api.test_notifications import told
from structlog.testing import capture_logs
from typer.testing import CliRunner
from warren.clock import SystemClock
from warren.contracts import Silence
from warren.contracts.topics import Topic
from warren.errors import SettingsError
from warren_cli.main import app

SETTINGS = """
[[notifier.routes]]
name = "pager"
minimum_severity = "ERR"
channels = ["oncall"]
continue_matching = true

[[notifier.routes]]
name = "tests"
clusters = ["^test"]
channels = ["mail"]

[[notifier.routes]]
name = "people"
clusters = ["^test", "^pr"]
groups_allow = ["^x", "bil+"]
groups_deny = ["^never"]
channels = ["mail", "oncall"]
mute = [{ days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] }]

[[notifier.routes]]
name = "rest"
channels = ["boss"]

[notifier.channels.oncall]
type = "webhook"
url = "https://alerts.example.org/warren"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

[notifier.channels.boss]
type = "webhook"
url = "https://boss.example.org/warren"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

[notifier.channels.mail]
type = "email"
host = "smtp.example.org"
sender = "warren@example.org"
to = ["team@example.org"]
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    file = tmp_path / "warren.toml"
    file.write_text(SETTINGS)
    return str(file)


def explain(config: str, *arguments: str, api: str = "http://127.0.0.1:1") -> list[str]:
    command = ["notify", "explain", "--cluster", "prod", "--group", "billing", "--config", config]
    result = CliRunner().invoke(app, [*command, "--api", api, *arguments])
    if result.exception is not None:
        raise result.exception
    return result.stdout.splitlines()


def test_what_each_route_does_about_it(config: str) -> None:
    lines = explain(config)
    muted = lines.pop(3)
    assert muted.startswith("people: yes, muted for ")
    why = "ERR reaches minimum_severity WARN, clusters has ^pr, groups_allow has bil+"
    assert muted.endswith(f": {why}")
    assert lines[:-1] == [
        "pager: yes: ERR reaches minimum_severity ERR, all clusters, all groups",
        "  oncall: alone at once",
        "tests: no, clusters has no expression that matches",
        "  mail: together with others on prod, the first after 30s",
        "  oncall: told by pager",
        "rest: no, people took it, without continue_matching",
    ]
    assert lines[-1].startswith("whether it is silenced is not known: no answer from")
    assert explain(config, "--status", "warn")[0] == "pager: no, minimum_severity is ERR"
    denied = explain(config, "--group", "never-billing")
    assert "people: no, groups_deny has ^never" in denied


def test_channels_need_not_be_usable_here(config: str) -> None:
    """As where the library Apprise, or a file that only the notifier's machine has, is missing."""
    with Path(config).open("a") as file:
        file.write('[notifier.channels.phone]\ntype = "apprise"\nurl = "strange://nowhere"\n')
    assert explain(config)[0].startswith("pager: yes")


def test_that_somebody_has_silenced_it(config: str) -> None:
    api = Api(clock=SystemClock())  # type: ignore[arg-type]  # the command's clock is the real one
    now = SystemClock().now_ms()
    api.put("billing", "prod", evaluated_at=now)
    silence = Silence(
        id="quiet",
        cluster="",
        group="^bill",
        begins_at=now,
        ends_at=now + 7_200_000,
        by="ada",
        why="moving",
        created_at=now,
    )
    with served(api) as address:
        assert explain(config, api=address)[-1] == "not silenced"
        api.model.silences.apply(b"quiet", silence.to_bytes())
        said = explain(config, api=address)[-1]
    assert said.startswith("silenced for 1h 59m, until ")
    assert said.endswith("by ada: moving (silence quiet)")


def test_a_cluster_that_there_is_not(config: str) -> None:
    api = Api(clock=SystemClock())  # type: ignore[arg-type]  # the command's clock is the real one
    api.put("billing", "prod", evaluated_at=SystemClock().now_ms())
    with (
        served(api) as address,
        pytest.raises(SettingsError, match="demo, prod") as refused,
    ):
        explain(config, "--cluster", "prd", api=address)
    assert refused.value.setting == "--cluster"
    with Path(config).open("a") as file:
        file.write('[clusters.stage]\nbootstrap = "a:1"\n')
    with pytest.raises(SettingsError, match="no cluster stge; there are: stage"):
        explain(config, "--cluster", "stge")
    assert explain(config, "--cluster", "stage")[0].startswith("pager: yes")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [(("--type", "strange"), "--type: strange is none of"), (("--status", "unknown"), "--status")],
)
def test_what_nobody_is_told_of(config: str, arguments: tuple[str, ...], names: str) -> None:
    with pytest.raises(SettingsError, match=names):
        explain(config, *arguments)


class Notifier(Obeying):
    """Tells `channels` at once: each with what came of its opening."""

    def __init__(self, api: Api, channels: dict[str, str]) -> None:
        super().__init__(api.model)
        self._notifications = api.model.notifications
        self._channels = channels

    def __call__(self, topic: Topic, key: bytes, value: bytes | None) -> None:
        super().__call__(topic, key, value)
        (test,) = self.tests
        offsets = count()
        for channel, outcome in self._channels.items():
            ended = "delivered" if outcome == "delivered" else "suppressed"
            for kind, what in (("opened", outcome), ("resolved", ended)):
                one = told(
                    channel=channel,
                    kind=kind,
                    outcome=what,
                    detail="as it is",
                    incident_id=test.incident_id,
                    delivery_id=f"{channel}-{kind}",
                )
                self._notifications.take(0, next(offsets), one.to_bytes(), one.key)


@pytest.mark.parametrize(
    ("channels", "code"),
    [
        ({"mail": "delivered", "oncall": "delivered"}, 0),
        ({"mail": "delivered", "oncall": "refused"}, 1),
        ({"mail": "delivered"}, 1),
        ({}, 1),
    ],
)
def test_what_comes_of_a_test(config: str, channels: dict[str, str], code: int) -> None:
    api = Api()
    notifier = Notifier(api, channels)
    api = Api(model=api.model, asking=notifier)
    with served(api) as address, capture_logs():
        arguments = ["notify", "test", "--route", "people", "--by", "ada", "--wait", "2"]
        result = CliRunner().invoke(app, [*arguments, "--config", config, "--api", address])
    assert result.exit_code == code, result.output
    assert [(one.route, one.by) for one in notifier.tests] == [("people", "ada")]
    for channel, outcome in channels.items():
        assert f"{channel}, opened: {outcome}, as it is" in result.output
    if not channels:
        assert "no notifier has taken it up" in result.output


def test_a_route_that_there_is_not(config: str) -> None:
    arguments = ["notify", "test", "--route", "nothing", "--config", config]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, SettingsError)
    assert "no route nothing; there are: pager, tests, people, rest" in str(result.exception)

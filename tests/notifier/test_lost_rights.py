"""A right on the home cluster that is taken away: said on /ready, waited for, nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

from notifier.builders import event
from notifier.http_receiver import HttpReceiver
from notifier.process import Home, config, notifier, webhook
from support.secured_kafka import DESCRIBE, GROUP, READ, TOPIC, WRITE, SecuredKafka
from support.waiting import eventually

WRITTEN = ("notifications", "notifier-state", "dead-letters")


def test_who_may_not_write_is_not_ready_until_it_may(
    secured_kafka: SecuredKafka, tmp_path: Path, unique: str
) -> None:
    kafka, user = secured_kafka, secured_kafka.user()
    with HttpReceiver() as hooks:
        home = Home.create(kafka.bootstrap, unique)
        prefix = home.settings.topic_prefix
        user.grant(TOPIC, "*", READ)
        user.grant(GROUP, "*", READ, DESCRIBE)
        for name in WRITTEN:
            user.grant(TOPIC, prefix + name, WRITE)
        file = config(tmp_path, home, webhook("hook", hooks.port))
        pairs = "".join(f"{json.dumps(k)} = {json.dumps(v)}\n" for k, v in user.login().items())
        text = file.read_text().replace(kafka.bootstrap, kafka.secured)
        limits = "[standstill]\nnot_ready_after = 3\nexit_after = 9\n"
        file.write_text(f"{text}\n[home.kafka]\n{pairs}{limits}")
        with notifier(file) as running:
            user.revoke(TOPIC, f"{prefix}notifier-state", WRITE)
            home.publish(event(group="billing"))
            eventually(
                lambda: not running.ready and running.reason.startswith("routing: "),
                timeout=60,
                message=f"it says so: {running.reason}",
            )
            eventually(
                lambda: (
                    running.child.exit_code() is not None
                    or running.output().count("cluster not usable, retrying") > 5
                ),
                timeout=90,
                message="it tries again and again",
            )
            assert running.child.exit_code() is None, running.output()
            user.grant(TOPIC, f"{prefix}notifier-state", WRITE)
            eventually(lambda: running.ready, timeout=60, message="it goes on by itself")
            eventually(lambda: len(hooks.requests) > 0, timeout=60, message="billing is told")
            assert "Traceback" not in running.output()

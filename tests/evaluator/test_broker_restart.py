"""The broker that keeps Warren's topics dies, and is restarted, in the middle of incidents."""

from pathlib import Path

from support.evaluator_process import Home
from support.group_lives import Load, assert_as_expected, fold, lives
from warren_local.kafka import EmbeddedKafka


def test_nothing_is_lost_nor_doubled_when_the_broker_restarts(
    own_kafka: EmbeddedKafka, unique: str, tmp_path: Path
) -> None:
    """Killed, then stopped; two workers, events on their way all the time."""
    home = Home(own_kafka.bootstrap, unique, tmp_path)
    with home.worker("one") as one, home.worker("two") as two:
        one.start().await_ready()
        two.start().await_ready()
        with Load(home.events(), seconds=20) as load:
            load.await_share(0.2)
            own_kafka.kill()
            own_kafka.start()
            load.await_share(0.6)
            own_kafka.stop()
            own_kafka.start()
        home.await_caught_up()
        assert one.terminate() == 0
        assert two.terminate() == 0
        assert_as_expected(home, {group: fold(life) for group, life in lives().items()})

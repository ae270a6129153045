"""What the corrections override, and reach for, is what they were written against."""

import ast
import hashlib
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from warren_evaluator import faust_corrections

UPSTREAM = ("aiokafka", "faust", "mode")
DRIVER = "faust.transport.drivers.aiokafka"
POSITIONS = "aiokafka.consumer.subscription_state:TopicPartitionState"

WRITTEN_AGAINST = {
    "consumer.SafeConsumerThread.seek_to_committed": {
        "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread.seek_to_committed": "3335d0ac3af1",
        "faust.transport.consumer:Consumer.perform_seek": "d3e8527bdb71",
        "faust.transport.consumer:Consumer._is_changelog_tp": "4dd9b830fc62",
        "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread._ensure_consumer": "7ad1994abb32",
        "aiokafka.consumer.consumer:AIOKafkaConsumer.seek_to_committed": "0268d063aebf",
    },
    "consumer.SafeConsumerThread.verify_event_path": {
        f"{DRIVER}:AIOKafkaConsumerThread.verify_event_path": "9339cffa6f4e",
        f"{POSITIONS}.has_valid_position": "0f0000c9bba6",
        f"{POSITIONS}.position": "39432b4b2c36",
    },
    "consumer.SafeConsumerThread._stopped_set": {
        "mode.threads:ServiceThread._stopped_set": "84bcd6933058",
        "mode.threads:ServiceThread.stop": "8060a412ea46",
    },
    "consumer.SafeConsumer._new_consumer_thread": {
        "faust.transport.drivers.aiokafka:Consumer._new_consumer_thread": "c4a2821269c4",
        "faust.transport.consumer:ThreadDelegateConsumer.__init__": "880805347085",
    },
    "consumer.SafeConsumer._getmany": {
        "faust.transport.consumer:ThreadDelegateConsumer._getmany": "30984c83c56d",
        "faust.transport.consumer:Consumer._wait_next_records": "920120740535",
        "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread._fetch_records": "390594ddd941",
        "aiokafka.consumer.fetcher:Fetcher.fetched_records": "576f6cbf0b11",
    },
    "consumer.SafeConsumer._add_gap": {
        "faust.transport.consumer:Consumer._add_gap": "eedb76f52938",
        "faust.transport.consumer:Consumer._drain_messages": "6b6a22fa66e6",
        "faust.transport.consumer:Consumer._new_offset": "0e5eafcd3f05",
    },
    "consumer.SafeTransport.Consumer": {
        "faust.transport.drivers.aiokafka:Transport.Consumer": "1ea0a976703f",
    },
    "window_table.SafeRecovery.on_recovery_completed": {
        "faust.tables.recovery:Recovery.on_recovery_completed": "a63912ae5efd",
        "faust.tables.recovery:Recovery._restart_recovery": "2bc1989fda0e",
        "faust.tables.recovery:Recovery._resume_streams": "c68b1634b3c3",
    },
    "window_table.SafeRecovery.wrote": {
        "faust.tables.recovery:Recovery.on_rebalance": "daa42029a0bd",
        "faust.tables.recovery:Recovery.revoke": "8f88515c0ade",
        "faust.tables.recovery:Recovery._add": "a3d6ad09527f",
        "faust.tables.recovery:Recovery._build_offsets": "d2325b2ac225",
        "faust.tables.recovery:Recovery._seek_offsets": "a3f66861b34f",
        "faust.tables.recovery:Recovery._slurp_changelogs": "6f289a0225f8",
    },
    "window_table.SafeRecovery._wait": {
        "faust.tables.recovery:Recovery._wait": "e9048e00454d",
        "mode.services:Service.wait_first": "c7b076fcaa45",
    },
    "window_table.SafeTableManager.recovery": {
        "faust.tables.manager:TableManager.recovery": "f7226be333bc",
    },
    "window_table.WindowTable.__init__": {
        "faust.tables.base:Collection.__init__": "b8e62b1682fe",
    },
    "window_table.WindowTable.apply_changelog_batch": {
        "faust.tables.base:Collection.apply_changelog_batch": "aebca0a2691b",
    },
    "window_table.WindowTable.on_recovery_completed": {
        "faust.tables.base:Collection.on_recovery_completed": "0d2f0c0aa8fc",
    },
    "worker.Worker.__init__": {
        "faust.worker:Worker.__init__": "3c05f7749c6d",
    },
    "worker.Worker._install_signal_handlers_unix": {
        "mode.worker:Worker._install_signal_handlers_unix": "625591810d75",
    },
    "window_table.WindowTable.save": {
        "faust.transport.drivers.aiokafka:Producer.send": "6ce33644501c",
        "faust.tables.base:Collection.send_changelog": "8269787f2830",
    },
}
"""Each correction, what of upstream it overrides or reaches for, and the digest of that source."""
# They correct, but override nothing.
NEW = {"window_table.WindowTable.save", "window_table.SafeRecovery.wrote"}
REACHED = [(ours, path) for ours, paths in WRITTEN_AGAINST.items() for path in paths]


def digest(member: Any) -> str:
    """Of the source; of a class that is somebody's attribute, its name is all that counts."""
    if inspect.isclass(member):
        source = f"{member.__module__}.{member.__qualname__}"
    else:
        function = getattr(member, "fget", None) or getattr(member, "fun", member)
        file = inspect.getsourcefile(inspect.unwrap(function))
        assert file is not None
        assert file.endswith(".py"), f"{member} is compiled: nobody sees its source change"
        source = textwrap.dedent(inspect.getsource(function)).strip()
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def upstream_member(path: str) -> Any:
    """By `module:Class.member`, without binding it."""
    module, _, name = path.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    return found


def our_classes() -> Iterator[tuple[type, list[str]]]:
    """With the names that their bodies define."""
    for info in pkgutil.iter_modules(faust_corrections.__path__):
        module = importlib.import_module(f"{faust_corrections.__name__}.{info.name}")
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef):
                yield getattr(module, node.name), list(names_in(node))


def names_in(body: ast.ClassDef) -> Iterator[str]:
    for statement in body.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id


def overridden() -> Iterator[tuple[str, str]]:
    """Our member, and upstream's that it overrides."""
    for cls, names in our_classes():
        for name in names:
            for base in cls.__mro__[1:]:
                if name in vars(base) and base.__module__.partition(".")[0] in UPSTREAM:
                    ours = f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}.{name}"
                    yield ours, f"{base.__module__}:{base.__qualname__}.{name}"
                    break


def test_every_overridden_member_is_listed() -> None:
    """Also one that upstream did not have when ours was named."""
    found = set(overridden())
    assert found - set(REACHED) == set()
    assert {ours for ours, _ in found} | NEW == WRITTEN_AGAINST.keys()


@pytest.mark.parametrize(("ours", "path"), REACHED)
def test_upstream_is_as_it_was(ours: str, path: str) -> None:
    found = digest(upstream_member(path))
    assert found == WRITTEN_AGAINST[ours][path], (
        f"{path} changed. Does {ours} of warren_evaluator.faust_corrections still correct what it "
        f"should, is it still needed, and does it call what it must? Then the digest is {found}"
    )

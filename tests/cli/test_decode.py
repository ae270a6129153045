from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import support.coordinator_records as encode
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner
from warren_cli.commands.decode import decode
from warren_cli.filters.decoding import answers
from warren_wire.records import GroupMetadata, Member

app = typer.Typer()
app.command()(decode)

KEY = encode.offset_key("billing", "orders", 3)
SUBSCRIPTION = bytes.fromhex("0001 00000001 0006") + b"orders" + bytes.fromhex("ffffffff 00000000")
MEMBER = Member(
    "m-1", "static-1", "client", "/10.0.0.1", 1, 2, SUBSCRIPTION, {"orders": [0, 2]}, b"u"
)
CONNECT = Member("w-1", None, "worker", "/10.0.0.2", 1, 2, b"?", {}, None)
MEMBER_KEY = encode.part_key(8, "billing", "m-1")
GROUP = GroupMetadata("billing", "consumer", 7, "range", "m-1", 1637, (MEMBER,))


def line(key: bytes | None, value: bytes | None, **more: Any) -> str:
    hexes = {
        "key_hex": None if key is None else key.hex(),
        "value_hex": None if value is None else value.hex(),
    }
    return json.dumps({**more, **hexes})


def run(text: str, *arguments: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, list(arguments), input=text)
    assert result.exit_code == 0, result.output
    return [json.loads(answer) for answer in result.stdout.splitlines()]


def skipped(key: int, value: int | None, why: str) -> dict[str, Any]:
    versions = {"key_version": key, "value_version": value}
    return {"kind": "skipped", "reason": f"key version {key}: {why}", **versions}


def test_every_kind() -> None:
    topic_id = UUID("12345678-1234-5678-1234-567812345678")
    commit = encode.offset_value(
        42, 1637, version=4, leader_epoch=5, metadata="é", topic_id=topic_id
    )
    lines = [
        line(KEY, commit, name="commit"),
        line(KEY, None, name=None),
        line(encode.group_key("billing"), encode.group_value(GROUP, 4)),
        line(encode.group_key("billing"), None),
        line(
            MEMBER_KEY,
            bytes.fromhex("0000 00000004 00000003 00 02" + "12" * 16 + "0200000001 00 01 00"),
        ),
        line(MEMBER_KEY, None),
        line(b"\0\x63", b""),
        line(MEMBER_KEY, b"\0\7"),
        line(KEY, commit[:5]),
    ]
    answers = run("\n".join(lines))
    assert [answer.get("name", "none") for answer in answers[:3]] == ["commit", None, "none"]
    assert [record for answer in answers for record in answer["records"]] == [
        {
            "kind": "offset_commit",
            "group": "billing",
            "topic": "orders",
            "partition": 3,
            "offset": 42,
            "timestamp_ms": 1637,
            "leader_epoch": 5,
            "metadata": "é",
            "topic_id": "12345678-1234-5678-1234-567812345678",
        },
        {"kind": "offset_deleted", "group": "billing", "topic": "orders", "partition": 3},
        {
            "kind": "group_metadata",
            "group": "billing",
            "protocol_type": "consumer",
            "generation": 7,
            "protocol": "range",
            "leader": "m-1",
            "state_timestamp_ms": 1637,
            "members": [
                {
                    "member_id": "m-1",
                    "instance_id": "static-1",
                    "client_id": "client",
                    "host": "/10.0.0.1",
                    "rebalance_timeout_ms": 1,
                    "session_timeout_ms": 2,
                    "assignment": {"orders": [0, 2]},
                    "user_data": "75",
                    "subscription": {
                        "topics": ["orders"],
                        "user_data": None,
                        "owned": {},
                        "generation": -1,
                        "rack": None,
                    },
                }
            ],
        },
        {"kind": "group_deleted", "group": "billing"},
        {
            "kind": "consumer_group_current_member_assignment",
            "group": "billing",
            "member_id": "m-1",
            "member_epoch": 4,
            "previous_member_epoch": 3,
            "state": 0,
            "assigned_partitions": [
                {
                    "topic_id": "12121212-1212-1212-1212-121212121212",
                    "partitions": [1],
                    "assignment_epochs": None,
                }
            ],
            "partitions_pending_revocation": [],
        },
        {
            "kind": "consumer_group_current_member_assignment_deleted",
            "group": "billing",
            "member_id": "m-1",
        },
        skipped(99, None, "unknown kind"),
        skipped(8, 7, "ConsumerGroupCurrentMemberAssignment value of unknown version 7"),
        {
            "kind": "malformed",
            "reason": "value.offset: 8 bytes needed, 3 left",
            "field": "value.offset",
            "at": 2,
        },
    ]


def test_what_another_protocol_than_consumer_means_is_not_guessed() -> None:
    group = GroupMetadata("sink", "consumer", 1, None, None, 0, (CONNECT,))
    (answer,) = run(line(encode.group_key("sink"), encode.group_value(group, 3)))
    (member,) = answer["records"][0]["members"]
    assert member["subscription"] == {"raw": "3f"}
    assert member["user_data"] is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "line: not JSON"),
        ("\ufeff{}", "line: key_hex is missing"),
        ("[1]", "line: not a JSON object"),
        ("1" * 5000, "line: not JSON"),
        ("[" * 100_000, "line: not JSON: nested too deeply"),
        ("{}", "line: key_hex is missing"),
        ('{"key_hex": null}', "line: value_hex is missing"),
        ('{"key_hex": 7, "value_hex": null}', "line: key_hex is not a string"),
        ('{"key_hex": "0", "value_hex": null}', "line: key_hex is not hexadecimal"),
        ('{"key_hex": "00", "value_hex": "zz"}', "line: value_hex is not hexadecimal"),
        ('{"name": {}, "key_hex": "00", "value_hex": null}', "line: name is not a string"),
        ('{"key_hex": null, "value_hex": null}', "key: null where a key is needed"),
    ],
)
def test_unusable_lines_are_data(text: str, reason: str) -> None:
    (answer,) = run(f"\n{text}\n\n")
    (record,) = answer["records"]
    assert record["kind"] == "malformed"
    assert record["reason"].startswith(reason)


@given(st.lists(st.binary(max_size=60)))
def test_any_input_is_answered_line_by_line(lines: list[bytes]) -> None:
    content = b"\n".join(lines)
    wanted = [one for one in content.split(b"\n") if one.strip()]
    assert len(list(answers(io.BytesIO(content)))) == len(wanted)


def test_names_are_echoed_whatever_they_are() -> None:
    text = '{"name": "\\ud800", "key_hex": "", "value_hex": null}'
    assert run(text)[0]["name"] == "\ud800"


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(line(KEY, None))
    assert run("", str(file)) == run(line(KEY, None), "-")


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path / "none")])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "No such file" in result.stderr

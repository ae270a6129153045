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
from warren_cli.commands.decode import answers, decode
from warren_collector.records import GroupMetadata, Member

app = typer.Typer()
app.command()(decode)

KEY = encode.offset_key("billing", "orders", 3)
MEMBER = Member("m-1", "static-1", "client", "/10.0.0.1", 1, 2, b"", {"orders": [0, 2]}, None)
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
        line(b"\0\5", b""),
        line(KEY, commit[:5]),
    ]
    assert run("\n".join(lines)) == [
        {
            "name": "commit",
            "records": [
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
                }
            ],
        },
        {
            "name": None,
            "records": [
                {"kind": "offset_deleted", "group": "billing", "topic": "orders", "partition": 3}
            ],
        },
        {
            "records": [
                {
                    "kind": "group_metadata",
                    "group": "billing",
                    "protocol_type": "consumer",
                    "generation": 7,
                    "protocol": "range",
                    "leader": "m-1",
                    "members": [
                        {
                            "member_id": "m-1",
                            "instance_id": "static-1",
                            "client_id": "client",
                            "host": "/10.0.0.1",
                            "assignment": {"orders": [0, 2]},
                        }
                    ],
                }
            ]
        },
        {"records": [{"kind": "group_deleted", "group": "billing"}]},
        {
            "records": [
                {
                    "kind": "skipped",
                    "key_version": 5,
                    "reason": "key version 5: ConsumerGroupMemberMetadata",
                }
            ]
        },
        {
            "records": [
                {
                    "kind": "malformed",
                    "reason": "value.offset: 8 bytes needed, 3 left",
                    "at": 2,
                }
            ]
        },
    ]


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

"""`warren decode`: coordinator records in, what they say out. A pure filter."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from warren_cli.filters.decoding import answers
from warren_cli.filters.streams import BadInput, opened, print_lines


def decode(
    source: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="JSON Lines; - is standard input.")
    ] = "-",
) -> None:
    """Decode records of __consumer_offsets: one line {"name","records":[...]} each out.

    A line of input is {"name"?,"key_hex","value_hex"|null}. A topic_id is a UUID, or null where
    the record has none; leader_epoch is -1 where it has none; bytes are hexadecimal; `at` is a
    byte position in what `reason` names. Records about consumer, share and streams groups have
    the fields of Kafka's schemas. Unusable lines and bytes are `malformed` records: data, not
    errors.
    """
    try:
        with opened(source) as lines:
            print_lines(map(json.dumps, answers(lines)))
    except BadInput as error:
        typer.echo(f"warren decode: {error}", err=True)
        raise typer.Exit(2) from None

"""docs/settings.md from the settings models."""

import json
from collections.abc import Collection, Iterable, Iterator
from inspect import getdoc
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from warren.logins import MECHANISMS
from warren.logins.tls import CIPHERS, TLS
from warren.settings import Settings

INTRODUCTION = """# Settings

Generated from `warren.settings`; do not edit.

Warren reads one file, `warren.toml` (`--config FILE` or `$WARREN_CONFIG` name another), and then
the environment: `[api] port` is `WARREN_API__PORT`, `[home.kafka] "sasl.password"` is
`WARREN_HOME__KAFKA__SASL_PASSWORD`. Add `_file` to a name (`_FILE` in the environment) to read the
value from a file, for example a mounted secret. Unknown names are refused.
"""


def pages() -> dict[str, str]:
    sections = [
        text
        for name, field in Settings.model_fields.items()
        for text in _sections((name,), field.annotation)
    ]
    return {"settings.md": "\n".join([INTRODUCTION, *sections, _logins()])}


def _logins() -> str:
    """What clients other than librdkafka take over of the tables `kafka`."""
    lines = [
        "## Logging in to Kafka",
        "",
        "What aiokafka's and Java's connections take over of `[home.kafka]` and "
        "`[clusters.<name>.kafka]`, beside `security.protocol` and `sasl.mechanism`.",
        "",
        "| by | needs | takes |",
        "|---|---|---|",
        f"| TLS | | {_names(sorted(TLS))}; not Java: `{CIPHERS}` |",
        *(f"| {m.name} | {_names(m.needs)} | {_names(m.takes)} |" for m in MECHANISMS.values()),
        "",
    ]
    return "\n".join(lines)


def _names(properties: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in properties)


def _sections(path: tuple[str, ...], annotation: Any) -> Iterator[str]:
    """The section that an annotation stands for, and those in it; none for a plain value."""
    if get_origin(annotation) is dict:
        yield from _sections((*path, "<name>"), get_args(annotation)[1])
    elif get_origin(annotation) is list:
        for model in _models(get_args(annotation)[0]):
            yield section(f"[[{'.'.join(path)}]]", path, model)
    else:
        for model in _models(annotation):
            if not all(map(_is_section, model.model_fields.values())):
                yield section(f"[{'.'.join(path)}]", path, model)
            for name, field in model.model_fields.items():
                yield from _sections((*path, name), field.annotation)


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The model, or that of a table that may be absent."""
    annotation = _unwrapped(annotation)
    candidates = get_args(annotation) if get_origin(annotation) is UnionType else (annotation,)
    return [each for each in candidates if isinstance(each, type) and issubclass(each, BaseModel)]


def section(
    heading: str, path: tuple[str, ...], model: type[BaseModel], without: Collection[str] = ()
) -> str:
    """A table of a model's fields. `without`: names of those that another one has."""
    lines = [
        f"## `{heading}`",
        "",
        first_paragraph(model),
        "",
        "| setting | environment | type | default | meaning |",
        "|---|---|---|---|---|",
        *_rows(path, model, without, in_list=heading.startswith("[[")),
        "",
    ]
    return "\n".join(lines)


def first_paragraph(model: type[BaseModel]) -> str:
    """What a model is, on one line."""
    return " ".join((getdoc(model) or "").partition("\n\n")[0].split())


def _rows(
    path: tuple[str, ...], model: type[BaseModel], without: Collection[str], *, in_list: bool
) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name in without or _is_section(field):
            continue
        # Tables of a list have no names: from the environment only the whole list can be set.
        variable = "" if in_list else "`WARREN_" + "__".join((*path, name)).upper() + "`"
        kind = _type_name(field.annotation)
        yield (
            f"| `{field.alias or name}` | {variable} | {kind} | {_default(model, field)} "
            f"| {(field.description or '').replace('|', '/')} |"
        )


def _is_section(field: FieldInfo) -> bool:
    """A table in the table, which may be absent, and has a section of its own."""
    return bool(_models(field.annotation))


def _type_name(annotation: Any) -> str:
    annotation = _unwrapped(annotation)
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(_type_name(arm) for arm in get_args(annotation))
    if get_origin(annotation) is dict:
        return "table"
    if get_origin(annotation) is list:
        return "list"
    if choices := get_args(annotation):
        return " or ".join(f"`{choice}`" if choice else "empty" for choice in choices)
    if annotation is SecretStr:
        return "secret"
    return {"str": "text", "int": "integer", "float": "number", "bool": "true or false"}[
        annotation.__name__
    ]


def _unwrapped(annotation: Any) -> Any:
    """Without what only checks it, and without None where a setting may be absent."""
    if get_origin(annotation) is Annotated:
        return _unwrapped(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        arms = [arm for arm in get_args(annotation) if arm is not type(None)]
        return _unwrapped(arms[0]) if len(arms) == 1 else annotation
    return annotation


def _default(model: type[BaseModel], field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    others = {name: each.default for name, each in model.model_fields.items()}
    value = field.get_default(call_default_factory=True, validated_data=others)
    if value is None:
        return "not set"
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    return f"`{json.dumps(value)}`"

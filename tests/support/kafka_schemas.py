"""Kafka's own schema files, from the broker's jars: what they allow, and how that is encoded.

An oracle for the decoder that was written without looking at the decoder's tables.
"""

import json
import re
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import support.coordinator_records as encode
from hypothesis import strategies as st

Fields = dict[str, Any]

_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_WORD = re.compile(r"(?<!^)(?=[A-Z])")
_NUMBERS = {
    "int8": ("b", 8, True),
    "int16": ("h", 16, True),
    "uint16": ("H", 16, False),
    "int32": ("i", 32, True),
    "int64": ("q", 64, True),
}
_TEXT = st.text(max_size=12)


@dataclass(frozen=True, slots=True)
class Schema:
    """One schema file."""

    definition: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.definition["name"])

    @property
    def key_version(self) -> int:
        return int(self.definition["apiKey"])

    @property
    def versions(self) -> range:
        first, _, last = str(self.definition["validVersions"]).partition("-")
        return range(int(first), int(last or first) + 1)

    def is_flexible(self, version: int) -> bool:
        return _has(str(self.definition["flexibleVersions"]), version)

    def values(self, version: int, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Fields]:
        """Field values by name; `given` are strategies for fields of any structure, by name."""
        return self._structure(self.definition["fields"], version, given)

    def filled(self, given: Fields, version: int = 0) -> Fields:
        """Values by name from those by name in snake case; the others are empty, 0 or null."""
        return self._filled(self.definition["fields"], given, version)

    def encoded(self, values: Fields, version: int, *, more_tags: bytes = b"") -> bytes:
        """The version and the fields. `more_tags` is the content of a tag that no schema has."""
        content = struct.pack(">h", version)
        return content + self._encoded(self.definition["fields"], values, version, more_tags)

    def decoded(self, values: Fields) -> Fields:
        """The same values under names in snake case."""
        return {snake_case(name): _renamed(value, self) for name, value in values.items()}

    def _filled(self, fields: list[Fields], given: Fields, version: int) -> Fields:
        names = {field["name"]: snake_case(field["name"]) for field in fields}
        assert given.keys() <= set(names.values()), f"not in {self.name}: {given}"
        return {
            field["name"]: self._given(field, given[names[field["name"]]], version)
            if names[field["name"]] in given
            else self._empty(field, version)
            for field in fields
            if _has(_versions(field), version)
        }

    def _given(self, field: Fields, value: Any, version: int) -> Any:
        if isinstance(value, dict):
            return self._filled(self._fields_of(field), value, version)
        if isinstance(value, list):
            return [self._given(field, one, version) for one in value]
        return value

    def _empty(self, field: Fields, version: int) -> Any:
        kind = str(field["type"])
        if _has(field.get("nullableVersions", ""), version):
            return None
        if kind.startswith("[]"):
            return []
        if kind in _NUMBERS:
            return int(str(field.get("default", 0)), 0)
        empty: Fields = {"string": "", "bytes": b"", "uuid": UUID(int=0), "bool": False}
        return empty[kind]

    def _fields_of(self, field: Fields) -> list[Fields]:
        if "fields" in field:
            return list(field["fields"])
        name = str(field["type"]).removeprefix("[]")
        structs = self.definition.get("commonStructs", [])
        return next(list(s["fields"]) for s in structs if s["name"] == name)

    def _structure(
        self, fields: list[Fields], version: int, given: dict[str, st.SearchStrategy[Any]]
    ) -> st.SearchStrategy[Fields]:
        return st.fixed_dictionaries(
            {
                field["name"]: given.get(field["name"], self._value(field, version, given))
                for field in fields
                if _has(_versions(field), version)
            }
        )

    def _value(
        self, field: Fields, version: int, given: dict[str, st.SearchStrategy[Any]]
    ) -> st.SearchStrategy[Any]:
        kind = str(field["type"])
        if kind.startswith("[]"):
            of = self._value({**_not_null(field), "type": kind[2:]}, version, given)
            value: st.SearchStrategy[Any] = st.lists(of, max_size=3)
        elif kind in _NUMBERS:
            _, bits, signed = _NUMBERS[kind]
            low = -(2 ** (bits - 1)) if signed else 0
            value = st.integers(low, low + 2**bits - 1)
        elif kind == "string":
            value = _TEXT
        elif kind == "bytes":
            value = st.binary(max_size=12)
        elif kind == "uuid":
            value = st.uuids()
        else:
            value = self._structure(self._fields_of(field), version, given)
        return st.none() | value if _has(field.get("nullableVersions", ""), version) else value

    def _encoded(
        self, fields: list[Fields], values: Fields, version: int, more_tags: bytes = b""
    ) -> bytes:
        content, tags = b"", {}
        for field in fields:
            if not _has(_versions(field), version):
                continue
            value = values[field["name"]]
            if "tag" not in field:
                content += self._encoded_value(field, value, version)
            elif value is not None:
                tags[int(field["tag"])] = self._encoded_value(field, value, version)
            elif field.get("default") is None:  # null, but not said to be absent then ("null")
                tags[int(field["tag"])] = encode.varint(0)
        if self.is_flexible(version):
            content += encode.tagged_fields(tags | ({99: more_tags} if more_tags else {}))
        return content

    def _encoded_value(self, field: Fields, value: Any, version: int) -> bytes:
        kind, compact = str(field["type"]), self.is_flexible(version)
        if kind.startswith("[]"):
            count = -1 if value is None else len(value)
            size = encode.varint(count + 1) if compact else struct.pack(">i", count)
            of = {**_not_null(field), "type": kind[2:]}
            return size + b"".join(self._encoded_value(of, one, version) for one in value or ())
        if kind in _NUMBERS:
            return struct.pack(f">{_NUMBERS[kind][0]}", value)
        if kind == "string":
            return encode.string(value, compact)
        if kind == "bytes":
            return encode.sized_bytes(value, compact)
        if kind == "bool":
            return struct.pack(">?", value)
        if kind == "uuid":
            assert isinstance(value, UUID)
            return value.bytes
        is_nullable = _has(field.get("nullableVersions", ""), version)
        if value is None:
            return b"\xff"
        marker = b"\1" if is_nullable else b""
        return marker + self._encoded(self._fields_of(field), value, version)


@dataclass(frozen=True, slots=True)
class GroupWriter:
    """Records about groups, as a broker writes them."""

    schemas: dict[str, Schema]

    def record(
        self, kind: str, group: str, part: str | None = None, /, **fields: Any
    ) -> tuple[bytes, bytes]:
        """Key and value; `kind` is the schemas' name without Key and Value."""
        schema = self.schemas[f"{kind}Value"]
        value = schema.encoded(schema.filled(fields), 0)
        return encode.part_key(schema.key_version, group, part), value

    def tombstone(self, kind: str, group: str, part: str | None = None) -> tuple[bytes, None]:
        return encode.part_key(self.schemas[f"{kind}Value"].key_version, group, part), None


def load_schemas(jars: Path, jar: str) -> dict[str, Schema]:
    """The schema files in a jar, by name; `jar` is how the jar's name begins."""
    (path,) = (one for one in jars.glob(f"{jar}-*.jar") if one.name[len(jar) + 1].isdigit())
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if re.match(r"common/message/\w+\.json$", n)]
        return {Path(n).stem: Schema(_definition(archive.read(n).decode())) for n in names}


def snake_case(name: str) -> str:
    return _WORD.sub("_", name).lower()


def _definition(text: str) -> dict[str, Any]:
    definition: dict[str, Any] = json.loads(_COMMENT.sub("", text))
    return definition


def _renamed(value: Any, schema: Schema) -> Any:
    if isinstance(value, dict):
        return schema.decoded(value)
    return [_renamed(one, schema) for one in value] if isinstance(value, list) else value


def _versions(field: Fields) -> str:
    return str(field.get("versions") or field["taggedVersions"])


def _not_null(field: Fields) -> Fields:
    return {name: value for name, value in field.items() if name != "nullableVersions"}


def _has(versions: str, version: int) -> bool:
    """Whether `3+`, `1`, `0-2`, `none` or nothing names a version."""
    if versions in ("", "none"):
        return False
    first, separator, last = versions.rstrip("+").partition("-")
    if versions.endswith("+"):
        return version >= int(first)
    return int(first) <= version <= int(last if separator else first)

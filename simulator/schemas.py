"""JSON Schemas (draft 2020-12) of the files that users write: worlds, protocols, scenarios and traces.

The schemas are computed from the declarations that the loaders use, so a new option or limit is in them at once. The
loaders check more than a schema can, such as how many actors a world may have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms import actions, kinds
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices, documented
from nbcc.model.world import Granularity, MergeMode, defaults, sections

from .specs import ABOUT
from .workload import scenario

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TEXT: Final[Mapping[str, Any]] = {"type": "string"}
COUNT: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 0}
DURATION: Final[Mapping[str, Any]] = {"type": ["string", "number"], "description": "such as 90s, 5m or 2h"}
FORMAT: Final[Mapping[str, Any]] = {"const": 1}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each kind of file by name."""
    made = {"world": world("format"), "protocol": protocol(), "scenario": of_scenario(), "trace": trace()}
    return {name: {"$schema": DIALECT, "title": f"a {name} of nbcc", **each} for name, each in made.items()}


def closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    found: dict[str, Any] = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**found, "required": [*required]} if required else found


def world(*required: str) -> dict[str, Any]:
    """Return the schema of a world. A trace has a world whose `format` may be left out."""
    usual = defaults()
    limits = {section: {name: _limit(usual.get(name)) for name in names} for section, names in sections().items()}
    groups = {section: closed(each) for section, each in limits.items()}
    groups["table"]["properties"] |= {
        "type": {"enum": ["MERGE_ON_READ", "COPY_ON_WRITE"]}, "merge_mode": {"enum": [*get_args(MergeMode)]},
    }  # fmt: skip
    numbers = {"type": "array", "items": COUNT}
    write = closed({WRITER.name: TEXT, "number": COUNT, "versions": numbers, "reads": numbers}, WRITER.name, "number")
    return closed(
        {
            "format": FORMAT, "name": TEXT, "about": TEXT, "granularity": {"enum": [*get_args(Granularity)]}, **groups,
            "actors": closed(dict.fromkeys(kinds(), COUNT)),
            "actor": {"type": "object", "additionalProperties": {"type": "object"}},
            "writes": {"type": "array", "items": write},
        },
        *required,
    )  # fmt: skip


def _limit(usual: Any) -> Mapping[str, Any]:
    return TEXT if isinstance(usual, str) else COUNT


def options() -> dict[str, Any]:
    """Return the schema of each option of a protocol, with its meaning."""
    meanings = documented()
    return {name: {"enum": [*values], "description": meanings[name]} for name, values in choices().items()}


def protocol() -> dict[str, Any]:
    """Return the schema of a protocol."""
    own = {name: {"type": ["string", "array", "object"]} for name in ABOUT if name != "format"}
    return closed({"format": FORMAT, **own, **options()}, "format")


def of_scenario() -> dict[str, Any]:
    """Return the schema of a scenario."""
    own = {name: of_type(hint) for name, hint in get_type_hints(scenario.Scenario).items() if name in scenario.TOP}
    writers = {"type": "array", "items": of_dataclass(scenario.WriterLoad)}
    of_parts = {name: of_dataclass(part) for name, part in scenario.SECTIONS.items()}
    return closed({**own, "format": FORMAT, **of_parts, "writers": writers}, "format", "writers")


def of_dataclass(kind: Any) -> dict[str, Any]:
    """Return the schema of a table of a scenario, which has the fields of a dataclass."""
    assert is_dataclass(kind)
    hints = get_type_hints(kind)
    required = [each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]
    return closed({each.name: of_type(hints[each.name]) for each in fields(kind)}, *required)


def of_type(hint: Any) -> Mapping[str, Any]:
    """Return the schema of a value. Numbers may be durations, which are texts such as 90s."""
    if get_origin(hint) is Literal:
        return {"enum": [*get_args(hint)]}
    if get_origin(hint) in (Union, UnionType):
        return {"anyOf": [of_type(each) for each in get_args(hint)]}
    return {str: TEXT, int: COUNT, float: DURATION, bool: {"type": "boolean"}}.get(hint, {})


def trace() -> dict[str, Any]:
    """Return the schema of a trace."""
    actor = {"type": "string", "pattern": "^[a-z]+[0-9]+$"}
    step = closed({"actor": actor, "action": {"enum": [*actions()]}, "args": {"type": "object"},
                   "observed": {"type": "object"}}, "actor", "action")  # fmt: skip
    cells = {"actor": actor, "write": COUNT, "group": COUNT, "version": COUNT, "key": TEXT,
             "ordering": {"type": "integer"}, "deleted": {"type": "boolean"}}  # fmt: skip
    row = {"type": "object", "properties": cells, "required": ["actor", "write", "group", "version", "key"]}
    return closed(
        {
            "format": FORMAT, "handle": {"type": "string", "pattern": "^[0-9a-f]{6}$"}, "title": TEXT,
            "actors": {"type": "object", "additionalProperties": {"enum": [*kinds()]}},
            "world": world(), "protocol": closed(options()),
            "rows": {"type": "array", "items": row}, "steps": {"type": "array", "items": step},
            "promise": {"enum": ["", *PROMISES]}, "verdict": {"enum": ["", "AGREED", "DISAGREED", "VIOLATED"]},
            "because": TEXT, "found_by": TEXT, "cycle": COUNT,
        },
        "format", "world", "protocol", "steps",
    )  # fmt: skip

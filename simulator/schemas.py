"""JSON Schemas (draft 2020-12) of the files that users write (worlds, protocols, scenarios and traces), and of the
answers of the commands with ``--json``.

The schemas are computed from the declarations that the loaders use, so a new option or limit is in them at once. The
loaders check more than a schema can, such as how many actors a world may have.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms import actions, kinds
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices, documented
from nbcc.model.world import Granularity, MergeMode, defaults, sections

from .answers import ANSWERS
from .specs import ABOUT
from .trace import Trace
from .workload import scenario

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TEXT: Final[Mapping[str, Any]] = {"type": "string"}
COUNT: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 0}
DURATION: Final[Mapping[str, Any]] = {
    "type": "string", "pattern": rf"^\s*{scenario.DURATION}\s*$", "description": "such as 90s, 5m or 2h",
}  # fmt: skip
FORMAT: Final[Mapping[str, Any]] = {"const": 1}
WRITTEN: Final[Mapping[Any, Any]] = {str: TEXT, int: COUNT, float: {"type": "number"}, bool: {"type": "boolean"}}
"""Values in files that users write."""
PRINTED: Final[Mapping[Any, Any]] = {
    str: TEXT, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
    NoneType: {"type": "null"}, Any: {}, Trace: {"type": "object", "description": "a trace (trace.json)"},
}  # fmt: skip
"""Values in answers of commands."""


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each kind of file by name."""
    made = {"world": world("format"), "protocol": protocol(), "scenario": of_scenario(), "trace": trace()}
    titled = {name: {"$schema": DIALECT, "title": f"a {name} of nbcc", **each} for name, each in made.items()}
    return {**titled, "answers": {"$schema": DIALECT, "title": "the answers of nbcc --json", **answers()}}


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
    own = {name: each for name, each in _of_fields(scenario.Scenario).items() if name in scenario.TOP}
    writers = {"type": "array", "items": of_part(scenario.WriterLoad), "minItems": 1}
    of_parts = {name: of_part(part) for name, part in scenario.SECTIONS.items()}
    return closed({**own, "format": FORMAT, **of_parts, "writers": writers}, "format", "writers")


def of_part(kind: Any) -> dict[str, Any]:
    """Return the schema of a table of a scenario, which has the fields of a dataclass."""
    assert is_dataclass(kind)
    required = [each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]
    return closed(_of_fields(kind), *required)


def _of_fields(kind: Any) -> dict[str, Any]:
    """Return the schemas of the fields of a class of scenarios, with the bounds that the loader checks."""
    found: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        found[name] = DURATION if name in scenario.DURATIONS else of_type(hint, WRITTEN)
        if name in scenario.BOUNDED.get(kind, ()):
            most = scenario.MOST.get(name, scenario.MANY)
            found[name] = {"type": found[name]["type"], "exclusiveMinimum": 0, "maximum": most}
    return found


def answers() -> dict[str, Any]:
    """Return the schema of the answer of each command, in `$defs` by its name, such as `table-clean`."""
    defined = {name.replace(" ", "-"): _answer(of_type(kind, PRINTED)) for name, kind in ANSWERS.items()}
    return {"$defs": defined}


def _answer(found: Mapping[str, Any]) -> dict[str, Any]:
    own = {"format": FORMAT, **found.get("properties", {})}
    return {**found, "properties": own, "required": ["format", *found.get("required", ())]}


def of_type(hint: Any, scalars: Mapping[Any, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the schema of a value, given the schemas of values without parts. A class with fields is an object with
    exactly these fields.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    parts = [of_type(each, scalars) for each in arguments if origin is not Literal and each is not Ellipsis]
    if hint in scalars:
        found = scalars[hint]
    elif origin is Literal or (isinstance(hint, type) and issubclass(hint, Enum)):
        found = {"enum": [*(arguments or map(str, hint))]}
    elif origin in (Union, UnionType):
        found = {"anyOf": parts}
    elif origin in (list, tuple):
        found = {"type": "array", "items": parts[0]}
    elif origin in (dict, collections.abc.Mapping):
        found = {"type": "object", "additionalProperties": parts[1]}
    elif origin is NotRequired:
        [found] = parts
    else:
        hints = get_type_hints(hint, include_extras=True) if isinstance(hint, type) else {}
        required = [name for name, each in hints.items() if get_origin(each) is not NotRequired]
        properties = {name: of_type(each, scalars) for name, each in hints.items()}
        found = closed(properties, *required) if hints else {}
    return found


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

"""The schema history of a table, stored in ``hoodie.properties``: each schema with the time from which the schema
applies.

The first schema of a table is stored in the property ``hoodie.table.create.schema``. All schemas after the first are
stored in an nbcc property, which Hudi preserves when it rewrites ``hoodie.properties``. Each schema change is also a
commit without files, because Hudi's readers take the schema from a commit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ..json_text import parse_json
from ..schema import from_avro
from .table_config import SchemaVersion, TableConfig

PROPERTY: Final = "nbcc.schemas"
"""A JSON list of [time since which it holds, Avro schema], oldest first."""


def schema_versions(values: Mapping[str, str]) -> tuple[SchemaVersion, ...]:
    """Return all schemas in the history of an nbcc table, oldest first."""
    later = parse_json(values.get(PROPERTY, "[]"))
    first = SchemaVersion("", from_avro(values["hoodie.table.create.schema"]))
    return (first, *(SchemaVersion(since, from_avro(avro)) for since, avro in later))


def with_version(values: Mapping[str, str], since: str, avro: str) -> dict[str, str]:
    """Append the schema `avro`, valid from the time `since`, to the schema history in the properties."""
    later = [*parse_json(values.get(PROPERTY, "[]")), [since, avro]]
    return {**values, PROPERTY: json.dumps(later, separators=(",", ":"))}


def config_at(config: TableConfig, time: str) -> TableConfig:
    """Return the config with the schema that the table had at `time`."""
    held = [version for version in config.schemas if version.since <= time]
    return replace(config, schema=held[-1].schema) if held else config

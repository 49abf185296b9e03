"""Creates an empty table, and loads the config of an existing table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from ..config.coordination import is_shared
from ..config.intact import MANDATORY, whole_properties
from ..config.properties import decode_properties, encode_properties
from ..config.schemas import schema_versions
from ..config.table_config import TableConfig
from ..config.table_properties import from_properties, to_properties
from ..errors import BadInput, Damaged, NotATable
from ..schema import from_avro, without_meta
from ..storage import NotFound, Storage
from ..timeline import Timeline, load_commit
from ..timeline.loading import Listings

PROPERTIES: Final = ".hoodie/hoodie.properties"
BACKUP: Final = ".hoodie/hoodie.properties.backup"

_SCHEMA_KEEPERS: Final = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX"})
"""Operations whose commits do not record the table's schema."""


def create_table(storage: Storage, config: TableConfig) -> None:
    """Create an empty table. Raises `BadInput` and changes nothing if the table's folder is not empty."""
    here = f"create a table at {storage.url}"
    if objects := storage.list(""):
        example = objects[0].path
        place = "choose an empty place"
        if any(found.path == PROPERTIES for found in objects):
            place = "there is a table already: open it with Table.open, or choose an empty place"
        raise BadInput(here, f"it is not empty ({example}, …)", place)
    if not storage.put_if_absent(PROPERTIES, encode_properties(to_properties(config))):
        raise BadInput(here, "another process has just created one there", "open that table instead")


def open_table(storage: Storage) -> TableConfig:
    """Return the config of the table in `storage`.

    Raises `NotATable` or `Unsupported` if nbcc cannot read the table. The schema of an nbcc table is stored in its
    properties. For a table of another engine, the schema is taken from the newest commit (docs/hudi-format.md).
    """
    values = load_properties(storage)
    created_with = values.get("hoodie.table.create.schema")
    if "nbcc.format" in values and created_with:
        config = replace(from_properties(values, pa.schema([])), shared_store=is_shared(storage.url))
        return _as_of_now(config, values)
    from_properties(values, pa.schema([]))  # refuse first what cannot be read
    schema = _latest_schema(storage, Listings().to_read(storage)) or created_with
    if schema is None:
        raise NotATable(
            f"open the table at {storage.url}", "neither commits nor properties record its columns", "write to it"
        )
    config = from_properties(values, without_meta(from_avro(schema)))
    return _with_columns(config, [config.ordering] if config.ordering else [], values)


def with_current_schema(storage: Storage, config: TableConfig) -> TableConfig:
    """Return the config with the table's current schema. A table service needs the current schema to rewrite rows
    without losing columns.
    """
    if not config.own:
        return config
    return _as_of_now(config, load_properties(storage))


def _as_of_now(config: TableConfig, values: Mapping[str, str]) -> TableConfig:
    try:
        versions = schema_versions(values)
    except (ValueError, KeyError, TypeError, RecursionError) as broken:
        raise Damaged(
            f"open the table {values.get('hoodie.table.name')}",
            f"its properties hold no valid schema ({type(broken).__name__}: {broken})",
            f"restore {PROPERTIES} from a copy",
        ) from None
    found = replace(config, schema=versions[-1].schema, schemas=versions if len(versions) > 1 else ())
    return _with_columns(found, found.always_set, values)


def _with_columns(config: TableConfig, needed: Sequence[str], values: Mapping[str, str]) -> TableConfig:
    """Return the config if its schema has all columns in `needed`; otherwise, raise `NotATable`."""
    if missing := next((name for name in needed if name not in config.schema.names), None):
        exists = f"its properties name the column {missing!r}, and its columns are {', '.join(config.schema.names)}"
        remedy = f"restore {PROPERTIES} from a copy"
        raise NotATable(f"open the table {values.get('hoodie.table.name')}", exists, remedy)
    return config


def _latest_schema(storage: Storage, timeline: Timeline) -> str | None:
    """Return the Avro schema in the newest commit (by requested time) that records the table's schema."""
    for instant in reversed(timeline.instants):
        if instant.completed and instant.writes:
            commit = load_commit(storage, instant)
            if commit.operation not in _SCHEMA_KEEPERS and commit.extra.get("schema"):
                return commit.extra["schema"]
    return None


def audited_properties(storage: Storage) -> tuple[dict[str, str], str]:
    """Return the properties of a table, and a description of any damage ('' if undamaged). For an audit, a file with a
    table name is enough: other keys and the checksum may be missing.
    """
    try:
        return load_properties(storage), ""
    except Damaged as damaged:
        return _named_properties(storage, damaged), damaged.exists


def _named_properties(storage: Storage, damaged: Damaged) -> dict[str, str]:
    """Return the properties of the first file that names the table, or raise `damaged`."""
    for path in (PROPERTIES, BACKUP):
        try:
            values = decode_properties(storage.get(path))
        except NotFound:
            continue
        if MANDATORY[0] in values:
            return values
    raise damaged


def load_properties(storage: Storage) -> dict[str, str]:
    """Return the properties of a table, or the backup copy of the properties if an update was interrupted. Raises
    `NotATable` if both the properties and the backup copy are damaged or missing.
    """
    return _load(storage)


def _load(storage: Storage) -> dict[str, str]:
    asked, wrong = f"open the table at {storage.url}", ""
    for path in (PROPERTIES, BACKUP):
        try:
            found = whole_properties(storage.get(path))
        except NotFound:
            continue
        if not isinstance(found, str):
            return found
        wrong = wrong or f"{path} is not whole: {found}"
    if not wrong:
        raise NotATable(asked, f"there is no {PROPERTIES}", "create it, or check the path for a typo")
    raise Damaged(asked, wrong, f"restore the file from a copy, or put a whole one at {BACKUP}")

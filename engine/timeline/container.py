"""Avro object containers of one record: what every non-empty file of the timeline is (hudi-format §3.4)."""

from __future__ import annotations

import hashlib
import io
from functools import cache
from typing import Any, Final, cast

import fastavro

from ..errors import NotATable
from . import schemas

_SCHEMAS: Final = {
    "commit": schemas.COMMIT,
    "replacecommit": schemas.REPLACE_COMMIT,
    "compaction": schemas.COMPACTION_PLAN,
}


@cache
def _parsed(kind: str) -> Any:
    return fastavro.parse_schema(_SCHEMAS[kind])


def encode_record(kind: str, record: dict[str, Any]) -> bytes:
    """The container of one record of the schema `kind` (``commit``, ``replacecommit`` or ``compaction``).

    The same record gives the same bytes: its sync marker is a digest of it, where Avro would draw a random one.
    """
    content = io.BytesIO()
    fastavro.schemaless_writer(content, _parsed(kind), record)
    marker = hashlib.md5(content.getvalue(), usedforsecurity=False).digest()
    container = io.BytesIO()
    fastavro.writer(container, _parsed(kind), [record], codec="null", sync_marker=marker)
    return container.getvalue()


def decode_record(data: bytes, name: str) -> dict[str, Any]:
    """The one record of a container, by its own embedded schema. `name` of the file, for the error message."""
    try:
        return cast(dict[str, Any], next(fastavro.reader(io.BytesIO(data))))
    except (ValueError, StopIteration, EOFError) as broken:
        raise NotATable(
            f"read the timeline file {name}",
            f"its {len(data)} bytes are no Avro container with one record ({broken or type(broken).__name__})",
            "restore the file, or roll the instant back with the tool that wrote it",
        ) from None

"""Converts table schemas between Arrow (used by the engine), Avro (used in Hudi's files) and Spark."""

from __future__ import annotations

from .avro import avro_json, from_avro
from .columns import META_COLUMNS, with_meta, without_meta
from .spark import from_spark, to_spark

__all__ = ["META_COLUMNS", "avro_json", "from_avro", "from_spark", "to_spark", "with_meta", "without_meta"]

"""The configuration of a table: `TableConfig`, its options, and its conversion to and from ``hoodie.properties``."""

from __future__ import annotations

from .table_config import TableConfig
from .table_properties import VERSIONS, from_properties, merge_mode, to_properties

__all__ = ["VERSIONS", "TableConfig", "from_properties", "merge_mode", "to_properties"]

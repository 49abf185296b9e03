"""The properties of a table as values, with their files and options."""

from __future__ import annotations

from .table_config import TableConfig
from .table_properties import VERSIONS, from_properties, merge_mode, to_properties

__all__ = ["VERSIONS", "TableConfig", "from_properties", "merge_mode", "to_properties"]

"""What a table is: its properties as a value, how they come to be and where they lie."""

from __future__ import annotations

from .stored import VERSIONS, from_properties, merge_mode, to_properties
from .table_config import TableConfig

__all__ = ["VERSIONS", "TableConfig", "from_properties", "merge_mode", "to_properties"]

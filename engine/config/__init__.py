"""What a table is: its properties as a value, how they come to be and where they lie."""

from __future__ import annotations

from .table_config import TableConfig
from .table_properties import VERSIONS, from_properties, merge_mode, to_properties

__all__ = ["VERSIONS", "TableConfig", "from_properties", "merge_mode", "to_properties"]

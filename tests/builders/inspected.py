"""The columns of inspected tables."""

from __future__ import annotations

import pyarrow as pa

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("v", pa.string())])

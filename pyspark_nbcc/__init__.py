"""Where Spark looks for data sources without being told: `spark.read.format("nbcc")` works by this module being there.

Spark imports every top-level module called ``pyspark_*`` and takes its `DefaultSource`.
"""

from __future__ import annotations

from nbcc.engine.data_source import NbccSource as DefaultSource

__all__ = ["DefaultSource"]

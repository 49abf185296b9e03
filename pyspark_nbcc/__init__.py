"""The module by which Spark finds `spark.read.format("nbcc")` without registration.

Spark imports every top-level module named ``pyspark_*`` and registers its `DefaultSource`.
"""

from __future__ import annotations

from nbcc.engine.data_source import NbccSource as DefaultSource

__all__ = ["DefaultSource"]

"""Spark's daemon of Python workers, after it has imported nbcc: a worker that replaces a killed one starts at once."""

from __future__ import annotations

import importlib
import sys

import nbcc.engine.data_source.stream_read
import nbcc.engine.data_source.stream_write  # noqa: F401 -- both are for the forks

if __name__ == "__main__":
    worker = sys.argv[1] if len(sys.argv) > 1 else ""
    importlib.import_module(worker if worker.startswith("pyspark") else "pyspark.worker")
    from pyspark.daemon import manager

    manager()

"""Starts the worker of a streaming source in a few milliseconds of processor time.

Spark waits ten seconds, which no option changes, until a new worker connects. On a busy machine the imports of the
worker take longer, and a query would never start again. This program connects first, and imports then.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any

WORKER = "pyspark.sql.streaming.python_streaming_source_runner"


def script(path: Path) -> str:
    """Write a program that replaces Python in the settings of Spark, and return its path."""
    path.write_text(f'#!/bin/sh\n[ "$2" = {WORKER} ] && exec {sys.executable} {__file__}\nexec {sys.executable} "$@"\n')
    path.chmod(0o755)
    return str(path)


if __name__ == "__main__":
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["PYTHON_WORKER_FACTORY_SOCK_PATH"])
    file: Any = connection.makefile("rwb", 65536)
    file.write(os.getpid().to_bytes(4, "big"))
    file.flush()
    sys.path[0] = str(Path(__file__).parents[2])  # as with `python -m`, instead of the folder of this file
    from pyspark.sql.streaming.python_streaming_source_runner import main

    with file:
        main(file, file)

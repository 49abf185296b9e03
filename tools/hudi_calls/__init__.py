"""Apache Hudi at each of its storage calls: a fault at each call of an operation, and random histories.

`python -m tools.hudi_calls FILE` writes what faults leave to a file; `python -m tools.hudi_calls.soak` plays histories.
Both need the environment of `make interop`, and a `javac` for the classes that stop before each call
(tools/peers/hudi/java).
"""

from __future__ import annotations

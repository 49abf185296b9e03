"""Apache Hudi at each of its storage calls: records the calls of its operations, and ends an operation at each of them.

`python -m tools.hudi_calls FILE` writes what was seen to a JSON file. It needs the environment of `make interop`, and a
`javac` for the classes that stop before each call (tools/peers/hudi/java).
"""

from __future__ import annotations

"""Peers: programs that run other systems, such as Apache Hudi, each in a separate environment and process.

A peer imports nothing from nbcc. A peer reads requests and writes answers, both as one JSON object per line. Peers need
a checkout of nbcc, in which `make interop` builds their environments, so the wheel does not contain them.
"""

from __future__ import annotations

"""Peers: programs that run other systems, such as Apache Hudi, each in a separate environment and process.

A peer imports nothing from nbcc. A peer reads requests and writes answers, both as one JSON object per line.
"""

from __future__ import annotations

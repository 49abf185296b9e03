"""Runs real code under a chosen interleaving: each actor runs in a thread that can be suspended before each storage,
lock or clock call.
"""

from __future__ import annotations

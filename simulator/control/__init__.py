"""Runs real code under a chosen interleaving: each actor runs in a thread, and may be interrupted before each storage,
lock or clock call.
"""

from __future__ import annotations

"""Loads every extension when it is imported: the fork server of a search imports it before its first child."""

from __future__ import annotations

from nbcc.model.extensions import load_all

load_all()

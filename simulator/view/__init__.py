"""Renders traces, tables and verdicts as text, HTML pages and pictures."""

from __future__ import annotations

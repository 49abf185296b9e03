"""Shows traces as text, pages and pictures."""

from __future__ import annotations

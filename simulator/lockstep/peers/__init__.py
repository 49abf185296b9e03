"""Starts peers: programs that run other systems, each in a separate environment and process (`tools/peers`)."""

from __future__ import annotations

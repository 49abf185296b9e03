"""Reads as definitions: snapshots, windows, and what they answer over real rows."""

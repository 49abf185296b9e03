"""Measures how often `nbcc validate` detects a broken table: figures of mutated engines and of single defects."""

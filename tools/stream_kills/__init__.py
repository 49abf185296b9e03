"""Kills the drivers, JVMs and Python workers of streams that copy tables, and compares the copies with the sources."""

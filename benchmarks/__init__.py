"""How long the engine's operations take; `python -m benchmarks` (or `make bench`) prints it and keeps it as JSON."""

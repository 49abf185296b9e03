"""Queriers are actors that send as-of, incremental, change-log and read-optimised queries with arbitrary times."""

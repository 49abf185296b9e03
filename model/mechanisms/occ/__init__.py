"""Optimistic concurrency control: a writer that finds a conflicting write completed since it began aborts (RFC-22)."""

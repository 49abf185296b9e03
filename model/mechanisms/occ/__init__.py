"""Optimistic concurrency control: a writer aborts if a conflicting write has completed since it began (RFC-22)."""

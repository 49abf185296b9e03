"""Models heartbeats, and the rollback of failed writes (RFC-22, "Inline rollback")."""

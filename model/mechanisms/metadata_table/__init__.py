"""The metadata table: a second table that lists the files of the first one, and must agree with it (RFC-15)."""

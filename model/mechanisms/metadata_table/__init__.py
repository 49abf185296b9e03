"""The metadata table (RFC-15) is a second table that lists the files of the data table, and must agree with it."""

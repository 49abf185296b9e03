"""The metadata table: a second table that lists the files of the data table, and must agree with the data table
(RFC-15).
"""

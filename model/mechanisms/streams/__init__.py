"""A stream is a Spark streaming query that reads the table and writes each batch into a sink; it can restart from its
Spark checkpoint.
"""

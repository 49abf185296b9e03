"""Streams: a query follows the table and writes each batch into a sink; the query can restart from its Spark
checkpoint.
"""

"""Streams: a query follows the table and writes each batch into a sink; it restarts from its Spark checkpoint."""

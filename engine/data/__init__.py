"""Reads, merges and writes data files as Arrow tables, one file group at a time. The modules of this package do not
import Spark.
"""

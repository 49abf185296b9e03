"""Reads, merges and writes data files, one file group at a time, on Arrow tables. The modules of this package do not
import Spark.
"""

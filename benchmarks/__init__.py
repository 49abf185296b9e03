"""How long things take: the engine compared with Apache Hudi and plain Parquet, its growth, the speed of the search."""

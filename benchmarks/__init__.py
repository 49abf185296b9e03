"""How long things take: the engine beside Apache Hudi and plain Parquet, its growth, the speed of the search."""

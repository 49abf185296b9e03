"""Log compaction merges several log files of a file slice into one; the slice keeps its base file."""

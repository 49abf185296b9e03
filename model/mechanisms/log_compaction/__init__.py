"""Log compaction: one log replaces several logs of a file slice; the slice keeps its base file."""

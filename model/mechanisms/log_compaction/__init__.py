"""Log compaction: several logs of a file slice become one log; the slice keeps its base file."""

"""A consumer reads consecutive incremental windows, and stores the start of the next window as a checkpoint."""

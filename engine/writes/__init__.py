"""What writing operations share: batches, conflicts, heartbeats, the steps to a commit."""

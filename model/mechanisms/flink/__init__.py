"""Models Flink jobs that write to the table: a checkpoint is a promise to commit, and its notification commits."""

"""Added columns: a schema evolver adds a column under the lock, and then publishes a commit without files."""

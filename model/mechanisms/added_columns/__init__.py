"""Added columns: an alterer adds a column under the lock, and then publishes a commit without files that says so."""

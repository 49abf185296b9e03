"""Restores: a restore returns the table to a savepoint, and undoes everything that completed since."""

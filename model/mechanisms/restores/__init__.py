"""Restores: a restore takes the table back to a savepoint, and undoes everything that completed since."""

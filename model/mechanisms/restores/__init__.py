"""A restore returns the table to a savepoint: it undoes every write that completed after the savepoint's instant."""

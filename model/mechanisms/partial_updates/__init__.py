"""In a table with partial updates, a record may set only some columns of a row."""

"""How rows of one key become one: ranks, deletes, columns, a user's function."""

"""The definition of a table: made from the arguments of `Table.create`, stored in ``hoodie.properties``, and loaded."""

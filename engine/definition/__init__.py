"""Creates a table's config from the arguments of `Table.create`, stores it in ``hoodie.properties``, and loads it."""

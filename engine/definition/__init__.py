"""Creates the config of a table from the arguments of `Table.create`, stores the config in ``hoodie.properties``, and
loads the config.
"""

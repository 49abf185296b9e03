"""The definition of a table: its config is made from the arguments of `Table.create`, stored in ``hoodie.properties``,
and loaded.
"""

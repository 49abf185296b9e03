"""The definition of a table: it is made from the arguments of `Table.create`, stored in ``hoodie.properties``, and
loaded.
"""

"""Writers insert new keys under a record index, which says in which file group a key is, while others do the same."""

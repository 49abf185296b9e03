"""Resizes give the keys of each partition to another number of file groups, while writers go on."""

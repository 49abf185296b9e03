"""Merge functions of users: a function combines two records to one row."""

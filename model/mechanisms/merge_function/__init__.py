"""Merge functions of users: a function combines two records into one row."""

"""Merge functions of users: a function makes one row of two records."""

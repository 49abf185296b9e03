"""A bulk insert writes a base file into each empty file group, and a log file into each non-empty file group."""

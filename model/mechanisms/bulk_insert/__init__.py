"""A bulk insert writes a base file into each file group without files, and a log file into each other group."""

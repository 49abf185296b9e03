"""The command line: one module for each command. Standard output holds the answer only."""

"""The command line: one module a command. Standard output holds the answer only."""

"""The command line: one file a command, standard output for the answer only."""

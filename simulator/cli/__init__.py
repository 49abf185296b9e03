"""The command line of nbcc: one module per command. Commands print only their answer on standard output."""

"""Other readings of the RFCs, and what other readers do: weaker rules, each an option of the protocol."""

"""What the table services share: what a plan takes, a clean deletes, a restore undoes."""

"""What table services decide: plans, what a cleaner, an archiver or a restore takes."""

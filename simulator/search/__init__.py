"""What can happen: searches of the model's states, proofs for any number of writers, verdicts, models of locks."""

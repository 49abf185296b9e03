"""The specification as a page: actors, rules and promises of one protocol, computed from the model's declarations."""

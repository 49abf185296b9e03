"""Everything of the engine that knows Spark."""

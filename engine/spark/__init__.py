"""The parts of the engine that use Spark."""

"""The simulator: searches models, runs the engine and other systems step by step, and compares them."""

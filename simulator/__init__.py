"""The simulator: searches the model's states, runs the engine and other systems step by step, and compares them with
the model.
"""

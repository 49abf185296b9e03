"""What actors share on their way to the timeline: clocks, publication, conflicts, the decision log."""

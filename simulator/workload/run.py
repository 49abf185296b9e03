"""Simulates a scenario under each concurrency mode and random seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .costs import Calibration
from .measures import Measures
from .scenario import Mode, Scenario
from .services import start_services
from .simulation import Simulation
from .writers import start_writers

Watch = Callable[[str, int, int], None]
"""Is called with the name of the work, the number of finished parts, and the number of all parts."""


def simulate(scenario: Scenario, mode: Mode, calibration: Calibration, seed: int = 1) -> Measures:
    """Simulate one run of a scenario. Equal seeds produce equal runs."""
    run = Simulation(scenario, mode, calibration, seed)
    start_writers(run)
    start_services(run)
    return run.finish()


def simulate_all(
    scenario: Scenario, modes: Sequence[Mode], calibration: Calibration, seeds: int, watch: Watch
) -> dict[Mode, list[Measures]]:
    """Simulate all modes with seeds 1 to `seeds`. Returns the measurements of all runs of each mode."""
    runs: dict[Mode, list[Measures]] = {mode: [] for mode in modes}
    total = len(modes) * seeds
    for number, (mode, seed) in enumerate((mode, seed) for mode in modes for seed in range(1, seeds + 1)):
        watch(scenario.name, number, total)
        runs[mode].append(simulate(scenario, mode, calibration, seed))
    return runs

"""Hypothesis draws the same examples on every run; HYPOTHESIS_PROFILE=deep draws more of them, and new ones.

Each process computes with one thread, as the app does: two test processes on two cores would wait for each other.
"""

import os

from hypothesis import HealthCheck, settings

from normviz.analysis.forward import use_one_thread

use_one_thread()

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, database=None, max_examples=100, suppress_health_check=SLOW
)
settings.register_profile(
    "deep", deadline=None, database=None, max_examples=1000, print_blob=True, suppress_health_check=SLOW
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

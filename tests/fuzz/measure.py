"""The cost of one example. The short run counts function calls, which are the same on every machine; the long run measures time and memory."""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import resource
import time
from collections.abc import Callable
from cProfile import Profile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from normviz.texts.errors import NormvizError

REPORT = os.environ.get("FUZZ_REPORT", "")  # the folder of the report of a long run; empty in the short run
SCALE = float(os.environ.get("FUZZ_SCALE", "1"))
MOST_CALLS = 250_000  # about 50 ms
MOST_SECONDS, MOST_BYTES = 0.1, 200e6
LOOK_CLOSER = 50e6
TRIES = 25  # for a slow example, because a busy machine is slow for a while
STATM, RESET = Path("/proc/self/statm"), Path("/proc/self/clear_refs")  # on Linux


@dataclass
class Seen:
    """The statistics of a run so far."""

    examples: int = 0
    refused: int = 0
    calls: int = 0
    seconds: float = 0.0
    slowest: str = ""
    bytes: float = 0.0
    largest: str = ""


SEEN = Seen()


def examples(count: int) -> int:
    """The number of examples that a test draws: ``count`` in the short run."""
    return max(1, round(count * SCALE))


def outcome(what: object, make: Callable[[], Any]) -> Any:
    """Return what ``make`` returns, or the NormvizError that it raises; fail on any other error, and on a cost above the limits."""
    result = (_measure_time_and_memory if REPORT else _measure_calls)(what, make)
    assert not isinstance(result, NormvizError) or 0 < len(str(result)) < 2000
    SEEN.examples += 1
    SEEN.refused += isinstance(result, NormvizError)
    return result


def _result_or_error(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except NormvizError as error:
        return error


@dataclass(frozen=True)
class Cost:
    """The result of a function, and the number of function calls that it made."""

    result: Any
    calls: int


def cost(make: Callable[[], Any]) -> Cost:
    """Run the function and count its calls, including C functions; the count does not depend on the machine."""
    profile = Profile()
    result = profile.runcall(make)
    return Cost(result, sum(entry.callcount for entry in profile.getstats()))


def _measure_calls(what: object, make: Callable[[], Any]) -> Any:
    found = cost(lambda: _result_or_error(make))
    SEEN.calls = max(SEEN.calls, found.calls)
    assert found.calls <= MOST_CALLS, f"{found.calls:,} calls, more than {MOST_CALLS:,}: {what!r:.2000}"
    return found.result


def _measure_time_and_memory(what: object, make: Callable[[], Any]) -> Any:
    before = _resident()
    if _peak() - before > LOOK_CLOSER and RESET.exists():
        RESET.write_text("5")  # reset the peak that earlier examples left
    start = time.process_time()
    result = _result_or_error(make)
    took, grown = time.process_time() - start, _peak() - before
    tries = 1
    while took > MOST_SECONDS and tries < TRIES:
        took, tries = min(took, _repeat_with_empty_caches(make)), tries + 1
    if took > SEEN.seconds:
        SEEN.seconds, SEEN.slowest = took, repr(what)[:1500]
    if grown > SEEN.bytes:
        SEEN.bytes, SEEN.largest = grown, repr(what)[:1500]
    assert took <= MOST_SECONDS, f"{took:.3f} s of computing: {what!r:.2000}"
    assert grown <= MOST_BYTES, f"{grown / 1e6:.0f} MB: {what!r:.2000}"
    return result


def _repeat_with_empty_caches(make: Callable[[], Any]) -> float:
    for cached in _caches():
        cached.cache_clear()
    gc.collect()
    start = time.process_time()
    _result_or_error(make)
    return time.process_time() - start


@functools.cache
def _caches() -> list[Any]:
    """The bounded caches of normviz, which are empty for a first visitor."""
    cached = (found for found in gc.get_objects() if isinstance(found, functools._lru_cache_wrapper))
    return [found for found in cached if found.__module__.startswith("normviz") and found.cache_parameters()["maxsize"]]


def _resident() -> float:
    return int(STATM.read_text().split()[1]) * resource.getpagesize() if STATM.exists() else _peak()


def _peak() -> float:
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


def _write() -> None:
    if SEEN.examples:
        Path(REPORT, f"{os.getpid()}.json").write_text(json.dumps(asdict(SEEN)))


if REPORT:
    atexit.register(_write)

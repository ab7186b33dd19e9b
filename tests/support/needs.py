"""Programs that tests need: without one of them its tests are skipped with a reason, or fail if CI=true."""

import os
from collections.abc import Callable
from inspect import signature
from typing import NoReturn

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from normviz.analysis.rounding import DTYPES
from normviz.layers.catalogue import COMPLETE
from tools.browser import find

HAS_RMS_NORM = hasattr(nn, "RMSNorm")  # from torch 2.4 on
HAS_BIAS = "bias" in signature(nn.GroupNorm).parameters  # of BatchNorm, InstanceNorm and GroupNorm
HAS_HALF = "float16" in DTYPES  # LayerNorm of float16 on the CPU


def _runs(call: Callable[[], object]) -> bool:
    try:
        call()
    except (RuntimeError, TypeError, ValueError):
        return False
    return True


HAS_MOMENTUM_NONE = _runs(lambda: nn.InstanceNorm1d(1, momentum=None, track_running_stats=True)(torch.ones(1, 1, 2)))
REFUSES_EPS_0 = not _runs(lambda: F.batch_norm(torch.ones(2, 1), None, None, training=True, eps=0.0))
ABSENT = [
    words
    for words, is_there in (
        ("(?i:rms_?norm)", HAS_RMS_NORM),
        (r"(Batch|Group|Instance)Norm\w*\([^()]*bias=", HAS_BIAS),
        ("float16", HAS_HALF),
    )
    if not is_there
]


def _needs(is_there: bool, what: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not is_there, reason=f"torch {torch.__version__} has no {what}")


needs_rms_norm = _needs(HAS_RMS_NORM, "nn.RMSNorm")
needs_half = _needs(HAS_HALF, "LayerNorm of float16 on the CPU, and mixes fewer dtypes")
needs_momentum_none = _needs(HAS_MOMENTUM_NONE, "momentum=None of InstanceNorm")
needs_refused_eps = _needs(REFUSES_EPS_0, "check of eps=0 in BatchNorm")
needs_uint16 = _needs(hasattr(torch, "uint16"), "uint16")
whole = _needs(COMPLETE, "layer or no argument that a newer one has")
cases_in_torch = pytest.mark.usefixtures(
    "in_torch"
)  # a case whose parameters name what the installed torch does not have is skipped
NO_BROWSER = "NO BROWSER: install Chromium or Chrome, or run `python -m tools.browser`"


def skip_or_fail(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason)
    pytest.skip(reason)


def browser_path() -> str:
    """The path of Chromium."""
    return find() or skip_or_fail(NO_BROWSER)

"""Many visitors who open the largest tensor at once, in a server of their own."""

import sys

import pytest

from bench.attack import LARGEST, MB, VIEWS, fresh_server, open_largest
from tests.support.asgi import run_async

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process's memory is read from /proc")


def test_twenty_views_of_the_largest_tensor_need_little_more_than_one_and_the_memory_returns():
    """One after the other they need 100 MB; at once, without a limit, they needed 1,600."""
    with fresh_server() as server:
        seen = run_async(open_largest(server, LARGEST[0], VIEWS, wait=1))
    assert seen.peak < 600 * MB
    assert seen.after < seen.before + 100 * MB

"""Many visitors at once, in a server of their own that may open few files."""

import sys
from collections.abc import Iterator

import pytest

from bench.attack import LARGEST, MB, VIEWS, Class, come_and_reload, fresh_server, open_largest
from bench.common import Server
from tests.support.asgi import run_async

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process's memory is read from /proc")


@pytest.fixture(scope="module")
def crowded() -> Iterator[Server]:
    with fresh_server(files=(60, 120)) as server:
        yield server


def test_twenty_views_of_the_largest_tensor_need_little_more_than_one_and_the_memory_returns(crowded: Server) -> None:
    """One after the other they need 100 MB; at once, without a limit, they needed 1,600."""
    seen = run_async(open_largest(crowded, LARGEST[0], VIEWS, wait=1))
    assert seen.peak < 600 * MB
    assert seen.after < seen.before + 100 * MB


def test_a_class_comes_reloads_and_gives_its_files_back(crowded: Server) -> None:
    """With Streamlit's four files for each, 30 of them would need more than the 120 that the server may open; it starts with 60."""
    assert run_async(come_and_reload(crowded, 40, 1.0)) == Class(40, 40, 40, 0)

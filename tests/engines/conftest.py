"""The engines, one after the other: each starts once, and its journeys use one window. An error in its console fails the journey.

The journeys are made in Firefox and in WebKit: what they show in Chromium is tested in `tests/browser`.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.conftest import BROWSERS
from tests.engines.engine import Chromium, Engine, EngineError, firefox, webkit
from tests.engines.reader import LAPTOP, Reader
from tools.browser import find_firefox, find_webkit


@pytest.fixture(scope="session", params=["firefox", "webkit"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A window of the engine. One that is not installed, or does not start, skips its journeys."""
    folder = tmp_path_factory.mktemp(request.param)
    with ExitStack() as stack:
        try:
            if request.param == "chromium":
                engine: Engine = Chromium(request.getfixturevalue("browser"))
            elif request.param == "firefox":
                path = find_firefox() or pytest.skip(
                    "NO FIREFOX: `python -m tools.browser` installs it on Debian, as root"
                )
                engine = stack.enter_context(firefox(path, folder))
            else:
                paths = find_webkit() or pytest.skip(
                    "NO WEBKIT: `python -m tools.browser` installs it on Debian, as root"
                )
                engine = stack.enter_context(webkit(*paths, folder))
        except (EngineError, OSError, RuntimeError) as error:
            pytest.skip(f"{request.param} does not start: {error}")
        yield engine


@pytest.fixture
def reader(engine: Engine, server: str, record_property: Callable[[str, object], None]) -> Iterator[Reader]:
    """A reader on a laptop, in the light theme. The journey fails if the console of the browser has an error or a warning."""
    record_property(BROWSERS, f"{engine.name} {engine.version}")
    engine.up()  # the journey before may have failed during a drag
    engine.prefer("light")
    engine.screen(*LAPTOP)
    yield Reader(engine, server)
    if not engine.lost:
        complaints = engine.complaints()
        assert not complaints, "\n".join(complaints)

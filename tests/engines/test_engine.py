"""A driver that does not answer fails its journeys, and does not hold up the run."""

import pytest

from tests.engines import engine
from tests.engines.engine import EngineError, Firefox, WebKit


class Silent:
    """A connection that answers nothing."""

    asked = 0

    def send(self, message: str) -> None:
        self.asked += 1

    def recv(self, timeout: float) -> str:
        raise TimeoutError

    def open(self, request: object, timeout: float) -> None:
        self.asked += 1
        raise TimeoutError("timed out")


def test_a_driver_that_did_not_answer_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, call in ((Firefox, "session.new"), (WebKit, "/session")):
        silent, driver = Silent(), kind.__new__(kind)
        driver.__dict__.update(_socket=silent, _ids=iter(range(9)), _driver="http://127.0.0.1:1")
        monkeypatch.setattr(engine, "WITHOUT_PROXY", silent)
        for _ in range(2):
            with pytest.raises(EngineError, match=f"did not answer {call} within"):
                driver._call(*((call,) if kind is Firefox else ("POST", call)))
        assert silent.asked == 1

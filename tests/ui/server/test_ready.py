import asyncio
import threading
import time
from concurrent.futures import Future

import pytest
import torch
from starlette.applications import Starlette
from starlette.routing import Route

from normviz.ui.server import routes as module
from normviz.ui.server.process import import_future
from normviz.ui.server.routes import Readiness, ready, routes, wrong_result
from tests.support.asgi import ask, run_async


@pytest.fixture(autouse=True)
def _imported() -> None:
    import_future().result()


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Starlette:
    monkeypatch.setattr(module, "_this_process", Readiness(fresh=0))
    return Starlette(routes=[Route("/readyz", ready)])


def test_a_process_that_computes_the_known_layer_is_ready(app: Starlette) -> None:
    response = ask(app, "/readyz")
    assert (response.status, response.body) == (200, b"ready\n")
    assert response.headers["cache-control"] == "no-store"


def test_a_process_that_is_still_importing_is_not_ready_and_answers_at_once(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading: Future[None] = Future()
    monkeypatch.setattr(module, "import_future", lambda: loading)
    response = ask(app, "/readyz")
    assert (response.status, response.body) == (503, b"not ready: torch is being imported\n")
    loading.set_result(None)
    assert ask(app, "/readyz").status == 200


def test_a_process_whose_import_failed_is_not_ready(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    loading: Future[None] = Future()
    loading.set_exception(ImportError("no such torch"))
    monkeypatch.setattr(module, "import_future", lambda: loading)
    response = ask(app, "/readyz")
    assert (response.status, response.body) == (503, b"not ready: ImportError: no such torch\n")


def test_a_process_with_a_wrong_result_is_not_ready(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    right = torch.nn.functional.layer_norm
    monkeypatch.setattr(torch.nn.functional, "layer_norm", lambda *arguments: right(*arguments) * 1.01)
    response = ask(app, "/readyz")
    assert response.status == 503
    assert b"torch's LayerNorm(4) differs from its pattern by" in response.body
    monkeypatch.undo()
    assert wrong_result() is None


def test_a_process_is_not_ready_while_torch_raises_an_error(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(torch.nn.functional, "layer_norm", lambda *arguments: 1 / 0)
        response = ask(app, "/readyz")
        assert (response.status, response.body) == (503, b"not ready: ZeroDivisionError: division by zero\n")
        assert b"Traceback" not in response.body
    monkeypatch.setattr(module, "_this_process", Readiness(fresh=0))
    assert ask(app, "/readyz").status == 200


def test_a_nan_result_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXPECTED", [[float("nan")] * 4] * 2)
    assert "wrong by nan" in (wrong_result() or "")


def test_a_result_is_reused_until_it_is_stale() -> None:
    now, computed = [0.0], []

    async def visits() -> None:
        readiness = Readiness(lambda: computed.append(now[0]), fresh=5, clock=lambda: now[0])
        await asyncio.gather(*(readiness.reason() for _ in range(100)))
        assert computed == [0.0]
        now[0] = 4.9
        await readiness.reason()
        assert computed == [0.0]
        now[0] = 5.0
        await readiness.reason()

    run_async(visits())
    assert computed == [0.0, 5.0]


def test_a_process_whose_computation_hangs_is_not_ready_and_starts_no_second_one() -> None:
    released, started = threading.Event(), []

    def hang() -> None:
        started.append(time.monotonic())
        released.wait(30)

    async def visits() -> None:
        readiness = Readiness(hang, patience=0.01)
        for _ in range(3):
            assert await readiness.reason() == "torch has not answered for 0.01 s"
        released.set()
        while await readiness.reason():
            await asyncio.sleep(0.01)

    run_async(visits())
    assert len(started) == 1


def test_the_application_answers_at_the_root() -> None:
    assert ask(Starlette(routes=routes()), "/readyz").status == 200

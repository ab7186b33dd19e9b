"""A change of a control sends few websocket messages, and a click fewer."""

from typing import Any

import pytest

from bench.protocol import Ran, Session, Widget
from bench.students import ELEMENT
from tests.support.asgi import run_async
from tests.support.sessions import click_element, figure

MOST, MOST_FOR_A_TENSOR, MOST_FOR_A_CLICK = 16, 20, 7  # messages to the browser
OTHER_SIZES = ("Tensor", "Ready-made sets", "Back to the start")  # most controls are others after these
# A page: changes one after the other, each the beginning of a control's label and the new value.
CHANGES: dict[str, list[tuple[str, Any]]] = {
    "explore": [
        ("N", 3.0),
        ("Layer", ["GroupNorm"]),
        ("Tensor", "N, D"),
        ("Layer", ["BatchNorm"]),
        ("Tensor", "N, C, H, W"),
        ("C", 6.0),
    ],
    "compare": [
        ("N", 4.0),
        ("Tensor", "N, D"),
        ("D", 5.0),
        ("Ready-made sets", "The four on images"),
        ("Layers", ["BatchNorm2d(4)", "LayerNorm([4, 5, 2])"]),
        ("Back to the start", True),
    ],
    "step_by_step": [("N", 3.0), ("Layer", ["BatchNorm"]), ("Tensor", "N, L, C"), ("C", 5.0)],
    "gradients": [
        ("normalized_shape", ["H, W"]),
        ("Experiment", ["Backward pass"]),
        ("Layer", "GroupNorm"),
        ("num_groups", ["1"]),
    ],
    "train_and_eval": [("Experiment", ["Over time"]), ("batch size", ["16"]), ("momentum", ["0.3"])],
    "numerics": [("dtype of x", ["float16"]), ("Experiment", ["A constant x"]), ("every element", "0.5")],
}


def find(session: Session, name: str) -> Widget:
    """The control with this label, or whose label begins with it."""
    return session.widgets.get(name) or next(one for label, one in session.widgets.items() if label.startswith(name))


@pytest.mark.parametrize("page", CHANGES)
def test_a_change_of_a_control_and_the_click_after_it_send_few_messages(websocket, page):
    async def visit() -> tuple[list[Ran], list[Ran]]:
        session, changed, clicked = Session(websocket, page), [], []
        await session.open()
        for name, value in CHANGES[page]:
            changed.append(await session.change(find(session, name), value))
            if "grid" in figure(session).figure:
                clicked.append(await click_element(session, [0] * len(figure(session).figure["grid"]["shape"])))
        await session.close()
        return changed, clicked

    changed, clicked = run_async(visit())
    counts = {f"{name}: {value}": ran.messages for (name, value), ran in zip(CHANGES[page], changed, strict=True)}
    assert not [error for ran in changed + clicked for error in ran.errors]
    assert all(1 <= ran.drawn.count(ELEMENT) <= 2 for ran in changed)
    few = {change: count for change, count in counts.items() if not change.startswith(OTHER_SIZES)}
    assert max(few.values()) <= MOST
    assert max(counts.values()) <= MOST_FOR_A_TENSOR
    assert all(ran.messages <= MOST_FOR_A_CLICK and len(ran.drawn) == 1 for ran in clicked)

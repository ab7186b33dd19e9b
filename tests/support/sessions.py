"""Parts of a session over the websocket, and what the tests send in it."""

from bench.protocol import FIELDS, Ran, Session, Widget
from bench.students import ELEMENT

CONTROLS = set(FIELDS) - {ELEMENT, "popover"}


def figure(session: Session) -> Widget:
    return session.widgets["page"]


async def click_element(session: Session, at: list[int]) -> Ran:
    return await session.change(figure(session), {"event": "select", "value": {"at": at, "turn": 1}})

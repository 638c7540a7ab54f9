"""Notices: one line each for a toast, by kind."""

from dataclasses import dataclass
from enum import StrEnum

from service_tui.desk.reasons import Fix


class NoticeKind(StrEnum):
    """Topic of a notice; the operator chooses notification channels by it.

    `desk` is what answers a key of the person's own. Another kind is one more line here, and one
    in the console's table of deliveries.
    """

    DESK = "desk"
    ALERT = "alert"
    EXIT = "exit"
    PRICE_ALERT = "price alert"
    FILL = "fill"
    SIGNAL = "signal"
    CONNECTION = "connection"
    HALT = "halt"
    APPROVAL = "approval"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Notice:
    """A line for a toast: what passed. `tone` is info, good, warn or bad.

    `about` identifies its event, if several notices may report the same. `fix` is what
    the operator can do about it.
    """

    notice_id: int
    tone: str
    text: str
    kind: NoticeKind = NoticeKind.DESK
    about: str = ""
    fix: Fix | str = ""

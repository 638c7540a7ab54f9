"""Restarts loops of the desk that failed, and notifies about the fault.

A fault may come from an unexpected answer and repeat with it: it must not end the console. The log
names the place of the fault, never a value.
"""

import logging
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, cast

from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports

log = logging.getLogger(__name__)

AGAIN_S: Final = 5.0
AGAIN_MAX_S: Final = 300.0
STEADY_S: Final = 60.0
"""ours: shortest and longest pause before a restart, doubled each time; it is short again after
a minute without a fault."""


def fault_text(error: BaseException) -> str:
    """A fault as it may be shown: its kind and its place, never a value.

    Returns:
        One sentence. Of a group, that of its first fault; of a library that is not installed, how
        to install it.
    """
    from service_tui.extras import missing_extra  # noqa: PLC0415 - only after a fault

    if missing := missing_extra(error):
        return missing
    first = _first(error)
    frames = traceback.extract_tb(first.__traceback__)
    own = [frame for frame in frames if "service_tui" in frame.filename] or frames
    place = f" at {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    return f"a fault in the program ({type(first).__name__}{place})"


def _first(error: BaseException) -> BaseException:
    if isinstance(error, BaseExceptionGroup):
        return _first(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return error


async def keep_running(name: str, begin: Callable[[], Awaitable[None]], ports: Ports) -> None:
    """Run a loop, and restart it whenever it fails.

    Args:
        name: name of the loop in the notice.
        begin: starts the loop from its first line.
        ports: clock and notices.
    """
    pause_s = AGAIN_S
    while True:
        began = ports.clock.monotonic()
        try:
            await begin()
        except Exception as error:  # noqa: BLE001  (whatever it is, it ends no other loop)
            problem = fault_text(error)
        else:
            return
        if ports.clock.monotonic() - began >= STEADY_S:
            pause_s = AGAIN_S
        text = f"{name}: {problem}; restarting in {pause_s:.0f} s"
        log.error(text)
        ports.emit(Noticed("bad", text))
        await ports.clock.sleep(pause_s)
        pause_s = min(AGAIN_MAX_S, pause_s * 2)

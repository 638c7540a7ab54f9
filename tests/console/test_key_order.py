"""The queue of keys without an app: which key is handled when, and which is refused."""

from types import SimpleNamespace
from typing import Any

import pytest
from textual import events
from textual.app import App

from service_tui.console import key_queue as room
from service_tui.console.key_queue import (
    BEHIND,
    CHECK_AGAIN_S,
    GONE,
    IDLE_S,
    REST_S,
    SETTLE_S,
    KeyDone,
    KeyQueue,
    pressed_at,
    rest_keys,
    show_row_gone,
)


class Target:
    """A widget that gets what follows a key."""

    def __init__(self, name: str = "table") -> None:
        self.name, self.is_attached = name, True
        self.screen: Any = "screen"
        self.got: list[KeyDone] = []

    def post_message(self, message: Any) -> None:
        self.got.append(message)


class Queue(KeyQueue):
    """A queue whose app, timers and clock are a test's own."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.target = Target()
        self.given: list[str] = []
        self.said: list[str] = []
        self.timers: list[tuple[float, Any]] = []
        self.later: list[tuple[Any, ...]] = []
        self.urgent: set[str] = set()
        self.stack: list[Any] = ["screen"]
        self.ready = True

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:  # noqa: FBT001, FBT002
        if priority and key in self.urgent:
            self.given.append(f"{key} at once")
            return True
        return False

    def post_message(self, message: Any) -> bool:
        self.said.append(message.text)
        return True

    def set_timer(self, delay: float, callback: Any = None, **_: object) -> Any:
        self.timers.append((delay, callback))
        return SimpleNamespace(stop=lambda: self.said.append("timer stopped"))

    def call_later(self, callback: Any, *args: Any, **_: Any) -> bool:
        self.later.append((callback, *args))
        return True

    def _is_ready(self) -> bool:
        return self.ready

    async def press(self, *keys: str) -> None:
        for key in keys:
            event = events.Key(key, key)
            event.time = self.now - 0.5
            await self.on_event(event)

    async def done(self) -> None:
        """Let the key in hand have its whole effect."""
        message = self.target.got[-1]
        self._key_done(message)
        self._key_done(self.target.got[-1])
        settle, *given = self.later.pop()
        await settle(*given)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    async def given(self: Queue, event: Any) -> None:
        self.given.append(getattr(event, "key", None) or type(event).__name__)

    monkeypatch.setattr(App, "on_event", given)
    monkeypatch.setattr(Queue, "focused", property(lambda self: self.target))
    monkeypatch.setattr(Queue, "screen", property(lambda _: "screen"))
    monkeypatch.setattr(Queue, "screen_stack", property(lambda self: self.stack))
    it = Queue()
    loop = SimpleNamespace(time=lambda: it.now)
    monkeypatch.setattr(room.asyncio, "get_running_loop", lambda: loop)
    return it


async def test_a_key_waits_until_the_one_before_has_had_its_effect(queue: Queue) -> None:
    await queue.press("b", "1", "2")
    assert queue.given == ["b"]
    await queue.done()
    assert queue.given == ["b", "1"]
    await queue.done()
    assert queue.given == ["b", "1", "2"]
    await queue.done()
    await queue.press("3")
    assert queue.given == ["b", "1", "2", "3"]


async def test_the_effect_of_a_key_is_over_with_the_second_message_behind_it(queue: Queue) -> None:
    await queue.press("b", "1")
    (first,) = queue.target.got
    assert (first.number, first.is_last, first.target) == (1, False, queue.target)
    queue._key_done(first)
    assert (queue.later, queue.target.got[-1].is_last) == ([], True)
    queue._key_done(queue.target.got[-1])
    assert [one[1:] for one in queue.later] == [(1,)]
    # What belongs to a key before this one ends nothing.
    queue._number = 2
    queue._key_done(first)
    assert len(queue.target.got) == 2
    await queue._settle(1)
    assert queue.given == ["b"]


async def test_what_ends_or_stops_something_overtakes_the_keys_that_wait(queue: Queue) -> None:
    queue.urgent = {"ctrl+q"}
    await queue.press("b", "1", "ctrl+q")
    assert queue.given == ["b", "ctrl+q at once"]
    assert [event.key for event in queue._typed] == ["1"]  # type: ignore[union-attr]


async def test_what_is_no_key_passes_unchanged_and_a_paste_keeps_its_place(queue: Queue) -> None:
    await queue.press("b")
    await queue.on_event(events.Focus())
    assert queue.given == ["b", "Focus"]
    await queue.on_event(events.Paste("12"))
    assert queue.given == ["b", "Focus"]
    await queue.done()
    assert queue.given == ["b", "Focus", "Paste"]


async def test_a_console_that_has_no_screen_takes_no_key(queue: Queue) -> None:
    await queue.press("b")
    queue.stack = []
    await queue.press("1")
    assert list(queue._typed) == []
    await queue._settle(1)
    assert queue.given == ["b"]


async def test_keys_after_a_dialog_that_closed_are_refused_and_told_once(queue: Queue) -> None:
    await queue.press("b", "1", "2")
    queue.rest_keys("the order has gone")
    assert (queue.said, list(queue._typed)) == (["the order has gone"], [])
    await queue.press("3")
    assert (queue.given, queue.said) == (["b"], ["the order has gone"])
    queue.now += REST_S
    await queue.done()
    await queue.press("4")
    assert queue.given == ["b", "4"]


async def test_a_rest_without_waiting_keys_tells_the_first_that_comes(queue: Queue) -> None:
    queue.urgent = {"ctrl+q"}
    queue.rest_keys("why")
    assert queue.said == []
    await queue.press("ctrl+q")
    assert (queue.said, queue.given) == ([], ["ctrl+q at once"])
    await queue.press("1", "2")
    assert (queue.said, queue.given) == (["why"], ["ctrl+q at once"])


async def test_a_key_given_again_is_handled_next_with_the_time_of_its_press(queue: Queue) -> None:
    await queue.press("b", "1")
    event = events.Key("b", "b")
    event.time = 42.0
    queue.give_again(event)
    await queue.done()
    assert queue.given == ["b", "b"]
    assert queue.pressed_at == 42.0
    queue.forget_typed()
    await queue.done()
    assert (queue.given, queue.pressed_at) == (["b", "b"], None)


async def test_a_key_is_known_by_when_it_was_pressed_and_silence_by_its_length(
    queue: Queue,
) -> None:
    assert (queue.is_idle, queue.pressed_at) == (True, None)
    await queue.press("b")
    assert (queue.is_idle, queue.pressed_at) == (False, 99.5)
    queue.now += IDLE_S
    assert not queue.is_idle
    await queue.done()
    assert queue.is_idle
    queue.now -= 0.01
    assert not queue.is_idle


@pytest.mark.parametrize("gone", ["late", "detached", "elsewhere", None])
async def test_a_key_that_removed_its_target_is_over_at_once(
    queue: Queue, gone: str | None
) -> None:
    await queue.press("b", "1")
    ((delay, check),) = queue.timers
    assert delay == CHECK_AGAIN_S
    queue.now += SETTLE_S if gone == "late" else SETTLE_S - 0.1
    queue.target.is_attached = gone != "detached"
    if gone == "elsewhere":
        queue.target.screen = "another screen"
    await check()
    assert queue.given == (["b"] if gone is None else ["b", "1"])
    assert len(queue.timers) == 2
    assert ("timer stopped" in queue.said) is (gone is not None)


async def test_the_next_key_waits_for_the_dialog_that_opens_but_not_for_ever(queue: Queue) -> None:
    await queue.press("b", "1")
    queue.ready = False
    await queue.done()
    waits = 1
    while queue.given == ["b"]:
        delay, settle = queue.timers.pop()
        assert delay == CHECK_AGAIN_S
        await settle()
        waits += 1
        assert waits < 200
    assert queue.given == ["b", "1"]
    assert waits == pytest.approx(SETTLE_S / CHECK_AGAIN_S + 1, abs=2)
    # The next one has its whole time again.
    assert queue._waited_s == 0.0


@pytest.mark.parametrize(
    ("mounted", "focused", "chain", "ready"),
    [
        (True, "table", ["table"], True), (True, None, [], True), (True, None, ["table"], False),
        (False, "table", ["table"], False),
    ],
)  # fmt: skip
def test_a_screen_is_ready_once_it_is_there_with_its_focus(
    monkeypatch: pytest.MonkeyPatch, focused: Any, chain: list[str], *, mounted: bool, ready: bool
) -> None:
    screen = SimpleNamespace(is_mounted=mounted, focused=focused, focus_chain=chain)
    monkeypatch.setattr(KeyQueue, "screen", property(lambda _: screen))
    assert KeyQueue()._is_ready() is ready


async def test_a_row_that_is_gone_is_told_and_the_keys_behind_it_are_dropped(
    queue: Queue,
) -> None:
    said: list[Any] = []
    acting: Any = SimpleNamespace(app=queue, post_message=said.append)
    await queue.press("b", "1")
    show_row_gone(acting)
    assert ([one.text for one in said], queue.said) == ([GONE], [BEHIND])
    assert list(queue._typed) == []
    elsewhere: Any = SimpleNamespace(app=object())
    rest_keys(elsewhere, "why")


async def test_who_acts_knows_when_its_key_was_pressed_and_else_takes_now(queue: Queue) -> None:
    acting: Any = SimpleNamespace(app=queue)
    assert pressed_at(acting) == 100.0
    await queue.press("b")
    assert pressed_at(acting) == 99.5
    elsewhere: Any = SimpleNamespace(app=object())
    assert pressed_at(elsewhere) == 100.0

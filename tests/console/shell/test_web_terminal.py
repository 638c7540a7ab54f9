"""A terminal in a browser: its page may close at any moment, and name any size."""

from typing import Any

import pytest
from textual.drivers.web_driver import WebDriver

from service_tui.console.shell.terminal import HEIGHT_MAX, WIDTH_MAX
from service_tui.console.shell.web_terminal import WebTerminal


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A driver without a page, which notes what it does."""
    made: Any = WebTerminal.__new__(WebTerminal)
    made.did = []
    monkeypatch.setattr(WebTerminal, "report_lost", lambda it: it.did.append("lost"))
    for name in ("write", "write_meta", "run_input_thread", "on_meta"):
        monkeypatch.setattr(
            WebDriver, name, lambda it, *given, name=name: it.did.append((name, *given))
        )
    return made


def test_what_is_written_goes_to_the_page_and_a_page_that_is_gone_is_reported(
    driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.write("a")
    driver.write_meta({"type": "b"})
    assert driver.did == [("write", "a"), ("write_meta", {"type": "b"})]

    def gone(*_: object) -> None:
        raise BrokenPipeError

    driver.did.clear()
    for name in ("write", "write_meta"):
        monkeypatch.setattr(WebDriver, name, gone)
        getattr(driver, name)({})
    assert driver.did == ["lost", "lost"]


def test_a_page_that_sends_no_more_keys_is_lost(driver: Any) -> None:
    driver.run_input_thread()
    assert driver.did == [("run_input_thread",), "lost"]


@pytest.mark.parametrize(
    ("packet", "payload", "passes"),
    [
        ("focus", {}, True), ("blur", {"width": -1}, True),
        ("resize", {"width": 80, "height": 24}, True),
        ("resize", {"width": WIDTH_MAX, "height": HEIGHT_MAX}, True),
        ("resize", {"width": WIDTH_MAX + 1, "height": 24}, False),
        ("resize", {"width": 80, "height": HEIGHT_MAX + 1}, False),
        ("resize", {"width": 0, "height": 24}, False), ("resize", {"width": 1, "height": 1}, True),
        ("resize", {"width": 80}, False), ("resize", {"width": "80", "height": 24}, False),
    ],
)  # fmt: skip
def test_only_a_size_that_a_window_may_have_is_taken(
    driver: Any, packet: str, payload: dict[str, object], *, passes: bool
) -> None:
    driver.on_meta(packet, payload)
    assert driver.did == ([("on_meta", packet, payload)] if passes else [])


def test_a_page_that_is_closed_ends_its_console(driver: Any) -> None:
    driver.on_meta("quit", {})
    assert driver.did == ["lost"]

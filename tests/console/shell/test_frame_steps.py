"""The duties of the frame toward the terminal, one method at a time."""

from typing import Any

import pytest
from textual import events
from textual.driver import Driver
from textual.geometry import Size

from kit.one_method import Self, called
from service_tui.console.shell import fatal, frame, terminal
from service_tui.console.shell.ending import KILLED
from service_tui.console.shell.frame import (
    HEIGHT_MIN,
    HUNG_UP,
    WIDTH_MIN,
    Base,
    FramedApp,
    TooSmall,
)
from service_tui.console.shell.terminal import HEIGHT_MAX, WIDTH_MAX, Losable, Terminal


def app(**given: Any) -> Self:
    """The app, of which a test gives what its method looks at."""
    return Self(**{
        "screen_stack": [], "_driver": None, "_is_arranging": False, "_withheld": 0,
        "theme_names": ("night", "paper"), "theme": "night", "_kept_theme": "night",
        "ending": None, **given,
    })  # fmt: skip


def test_a_small_window_is_told_its_size_and_the_least_one() -> None:
    notice = Self()
    called(TooSmall.measure, notice, 40, 10)
    ((_, text),) = notice.did
    assert "40 x 10" in text
    assert f"{WIDTH_MIN} x {HEIGHT_MIN}" in text


def test_the_lowest_screen_gives_the_focus_back_to_its_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frame, "FramedApp", Self)
    it = app()
    called(Base._take_focus, Self(app=it))
    assert it.did == [("focus_front",)]
    called(Base._take_focus, Self(app="another app"))


class Plain(Losable):
    """A driver that can lose its terminal."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, data: str) -> None:
        self.written.append(data)

    def start_application_mode(self) -> None:
        self.written.append("started")

    def disable_input(self) -> None:
        self.written.append("no input")

    def stop_application_mode(self) -> None:
        self.written.append("stopped")


def test_control_sequences_go_to_the_terminal_while_there_is_one() -> None:
    driver = Plain()
    called(FramedApp.signal, app(_driver=driver), "\a")
    called(FramedApp.signal, app(), "\a")
    assert driver.written == ["\a"]


def test_a_lost_terminal_ends_the_console_as_a_hangup_does() -> None:
    driver = Plain()
    it = app(_driver=driver, _theme_problems=("a", "b"))
    called(FramedApp._watch_terminal, it)
    assert it.did == [("show_toast", "a", "warn"), ("show_toast", "b", "warn")]
    it.did.clear()
    driver.on_lost()
    assert it.did == [("exit", None, HUNG_UP)]
    assert HUNG_UP == KILLED + 1
    called(FramedApp._watch_terminal, app(_theme_problems=(), _driver=object()))


def test_signals_are_answered_from_the_start_and_left_at_the_end() -> None:
    it = app(_signals=Self(), _answer="the answer")
    called(FramedApp._answer_signals, it)
    called(FramedApp._leave_signals, it)
    assert it._signals.did == [("answer", "the answer"), ("leave",)]


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_signal_bounds_the_end_even_where_the_loop_reacts_no_more(*, is_closed: bool) -> None:
    def soon(*given: Any) -> None:
        if is_closed:
            raise RuntimeError("the loop is closed")
        it.did.append(("soon", *given))

    it = app(_loop=Self(call_soon_threadsafe=soon), exit="exit")
    called(FramedApp._answer, it, 15)
    ends = ("_bound_the_end", KILLED + 15)
    assert it.did == [ends, *([] if is_closed else [("soon", "exit", 0)])]
    early = app(_loop=None)
    called(FramedApp._answer, early, 2)
    assert early.did == [("_bound_the_end", KILLED + 2)]


def test_the_end_gives_our_own_terminal_back_and_no_other() -> None:
    ending = Self()
    own = Terminal.__new__(Terminal)
    for driver, back in ((own, own.give_back), (Plain(), int), (None, int)):
        ending.did.clear()
        called(FramedApp._bound_the_end, app(ending=ending, _driver=driver), 70)
        assert ending.did == [("begin", 70, back)]
    called(FramedApp._bound_the_end, app(), 70)


def test_a_fault_ends_with_one_page_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[Any] = []
    monkeypatch.setattr(
        fatal, "report", lambda error, path: reported.append((error, path)) or "the page"
    )
    error = ValueError("a value")
    for given in (error, None):
        it = app(_exception=given, log_path="/log", _exit_renderables=[])
        called(FramedApp._end_by_fault, it)
        assert it.did == [
            ("_bound_the_end", fatal.EXIT_FAULT), ("_close_messages_no_wait",),
        ]  # fmt: skip
        assert it._return_code == fatal.EXIT_FAULT
        assert [str(page) for page in it._exit_renderables] == ["the page"]
    assert reported[0] == (error, "/log")
    assert isinstance(reported[1][0], RuntimeError)
    panics = app()
    called(FramedApp.panic, panics, "a value")
    called(FramedApp._fatal_error, panics)
    assert panics.did == [("_end_by_fault",)] * 2


def test_only_the_first_page_is_printed_and_never_as_markup() -> None:
    it = app(_exit_renderables=["first", "echo"], error_console=Self())
    called(FramedApp._print_error_renderables, it)
    plain = {"markup": False, "highlight": False, "soft_wrap": True}
    assert it.error_console.did == [("print", "first", plain)]
    assert it._exit_renderables == []


# -- arranging ------------------------------------------------------------------------------------


def test_nothing_is_painted_while_the_screen_is_arranged_and_a_timer_ends_it() -> None:
    screen = Self()
    it = app(screen_stack=[screen], screen=screen, _withheld=7, _check_arranged="check",
             _show_arranged="show")  # fmt: skip
    called(FramedApp.arrange, it)
    assert (it._is_arranging, it._withheld) == (True, 0)
    assert it.did == [("set_timer", frame.ARRANGED_S, "show")]
    assert screen.did == [("call_after_refresh", "check", -1, 0)]
    # One that is under way begins anew, with its first timer.
    called(FramedApp.arrange, it)
    assert (len(it.did), len(screen.did)) == (1, 2)
    unsized = app(screen_stack=[screen], screen=screen, _show_arranged="show")
    called(FramedApp.arrange, unsized, is_sized=False)
    assert (unsized._is_arranging, len(screen.did)) == (True, 2)


def test_it_is_shown_after_enough_checks_without_another_request_to_paint() -> None:
    screen = Self()
    it = app(screen_stack=[screen], screen=screen, _is_arranging=True, _check_arranged="check")
    before, quiet, checks = -1, 0, 0
    for withheld in (3, 5, 5, 5, 5):
        it._withheld = withheld
        called(FramedApp._check_arranged, it, before, quiet)
        checks += 1
        if it.did:
            break
        _, _, before, quiet = screen.did[-1]
        assert before == withheld
    assert it.did == [("_show_arranged",)]
    assert checks == 2 + frame._QUIET
    for done in ({"_is_arranging": False}, {"screen_stack": []}):
        idle = app(**{"screen_stack": [screen], "screen": screen, "_is_arranging": True, **done})
        called(FramedApp._check_arranged, idle, 0, 0)
        assert idle.did == []


def test_what_was_arranged_is_painted_once_on_the_screen_in_front() -> None:
    below, front = Self(), Self()
    it = app(screen_stack=[below, front], _is_arranging=True)
    called(FramedApp._show_arranged, it)
    called(FramedApp._show_arranged, it)
    assert (it._is_arranging, below.did, front.did) == (False, [], [("refresh",)])


def test_another_size_arranges_and_the_first_one_does_not() -> None:
    notice = Self()
    base = Self(query=lambda _: [notice])
    it = app(screen_stack=[base, Self()], _measured=None)
    for size, arranges in ((Size(80, 24), 0), (Size(80, 24), 0), (Size(60, 18), 1)):
        it.did.clear()
        called(FramedApp._measure, it, Self(size=size))
        assert it.did == [("arrange", {"is_sized": False})] * arranges
        assert it._measured == size
        assert notice.did[-1] == ("measure", size.width, size.height)
    called(FramedApp._measure, app(_measured=None), Self(size=Size(80, 24)))


def test_back_from_the_shell_every_screen_is_painted() -> None:
    screens = [Self(), Self()]
    called(FramedApp._paint_again, app(screen_stack=screens))
    assert [one.did for one in screens] == [[("refresh", {"layout": True})]] * 2


# -- toasts and themes ----------------------------------------------------------------------------


def test_toasts_are_shown_as_asked_for_and_keys_of_both_ends_are_named() -> None:
    it = app()
    called(FramedApp._toast_requested, it, Self(text="sold", tone="good"))
    called(FramedApp._copied, it, Self(text="0x1", what="the address"))
    called(FramedApp.action_help_quit, it)
    called(FramedApp.action_clear_toasts, it)
    assert it.did[:3] == [
        ("show_toast", "sold", "good"), ("copy_to_clipboard", "0x1"),
        ("show_toast", "copied the address", "good"),
    ]  # fmt: skip
    assert it.did[3][1].endswith("quits, y copies")
    assert it.did[4] == ("clear_notifications",)


@pytest.mark.parametrize(("name", "shown"), [("paper", "paper"), ("", "night"), ("x", "x")])
def test_a_theme_that_is_tried_is_previewed_and_without_one_the_kept_one(
    name: str, shown: str
) -> None:
    it = app(theme="paper")
    called(FramedApp._theme_tried, it, Self(name=name))
    assert it.did == [("preview_theme", shown)]


@pytest.mark.parametrize(("name", "worn"), [("paper", "paper"), ("x", "night"), ("night", "night")])
def test_only_a_known_theme_is_worn(name: str, worn: str) -> None:
    it = app()
    called(FramedApp.preview_theme, it, name)
    assert it.theme == worn


@pytest.mark.parametrize(
    ("names", "name", "kept"),
    [
        (("day", frame.DEFAULT_THEME), "day", "day"),
        (("day", frame.DEFAULT_THEME), "gone", frame.DEFAULT_THEME),
        (("day", frame.DEFAULT_THEME), "", frame.DEFAULT_THEME),
        (("day", "dusk"), "gone", "day"), ((), "gone", None),
    ],
)  # fmt: skip
def test_the_theme_is_the_named_one_else_the_usual_one_else_any(
    names: tuple[str, ...], name: str, kept: str | None
) -> None:
    it = app(theme_names=names, _kept_theme=None)
    called(FramedApp.apply_theme, it, name)
    assert it._kept_theme == kept
    assert it.did == ([] if kept is None else [("preview_theme", kept)])


def test_a_repeated_toast_replaces_itself_and_the_oldest_of_many_goes() -> None:
    def toast(text: str, tone: str = "info", **more: Any) -> Any:
        return called(FramedApp.show_toast, it, text, tone, **more)

    it = app(_notifications=[])
    first = toast("sold [b]all[/b]", "bad")
    assert (first.message, first.severity, first.markup) == ("✗ sold [b]all[/b]", "error", False)
    assert [name for name, *_ in it.did] == ["post_message"]
    assert it.did[0][1].notification is first
    others = [toast(f"toast {place}") for place in range(frame.TOASTS_SHOWN)]
    it._notifications = [first, *others]
    it.did.clear()
    again = toast("toast 0")
    gone = [one for name, one, *_ in it.did if name == "_unnotify"]
    assert gone == [others[0], first]
    assert again.message == "toast 0"
    it._notifications, it.did = [], []
    toast("instead", instead_of=again)
    assert it.did[0] == ("_unnotify", again, {"refresh": False})


def test_a_strange_tone_is_no_reason_to_say_nothing() -> None:
    it = app(_notifications=[])
    told = called(FramedApp.show_toast, it, "sold", "of tomorrow")
    assert (told.message, told.severity) == ("sold", "information")


@pytest.mark.parametrize(
    ("driver", "chosen"),
    [("web", "WebTerminal"), ("linux", "Terminal"), ("headless", "headless")],
)
def test_our_driver_has_a_terminal_or_a_browser_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, driver: str, chosen: str
) -> None:
    usual: Any = Terminal.__mro__[2] if driver == "linux" else type(driver, (), {})
    if driver == "web":
        usual.__module__ = frame.WEB_DRIVER
    monkeypatch.setattr("textual.app.App.get_driver_class", lambda _: usual)
    assert FramedApp.__new__(FramedApp).get_driver_class().__name__ == chosen


def test_only_the_toasts_of_the_screen_in_front_are_in_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refreshed: list[Any] = []
    monkeypatch.setattr(
        "textual.app.App._refresh_notifications", lambda *apps: refreshed.extend(apps)
    )
    racks = [Self(display=True), Self(display=True)]
    screens = [Self(query=lambda _, rack=rack: [rack]) for rack in racks]
    monkeypatch.setattr(FramedApp, "screen_stack", screens)
    it = FramedApp.__new__(FramedApp)
    it._refresh_notifications()
    assert [rack.display for rack in racks] == [False, True]
    assert refreshed == [it]


@pytest.mark.parametrize(
    ("size", "passes"),
    [((1, 1), True), ((0, 24), False), ((80, 0), False), ((-1, 24), False),
     ((WIDTH_MAX, HEIGHT_MAX), True), ((WIDTH_MAX + 1, 24), False), ((80, HEIGHT_MAX + 1), False)],
)  # fmt: skip
def test_a_size_that_no_window_has_is_dropped_and_all_else_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], *, passes: bool
) -> None:
    passed: list[Any] = []
    monkeypatch.setattr(Driver, "process_message", lambda _, message: passed.append(message))
    resize = events.Resize(Size(*size), Size(*size))
    key = events.Key("x", "x")
    for message in (resize, key):
        Plain().process_message(message)
    assert passed == [*([resize] if passes else []), key]


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_key_is_posted_on_the_loop_and_dropped_quietly_once_that_has_ended(
    monkeypatch: pytest.MonkeyPatch, *, is_closed: bool
) -> None:
    posted: list[Any] = []

    def threadsafe(work: Any, loop: Any) -> None:
        if is_closed:
            raise RuntimeError("the loop is closed")
        posted.append((work, loop))

    monkeypatch.setattr(terminal.asyncio, "run_coroutine_threadsafe", threadsafe)
    work = Self()
    driver: Any = Plain()
    driver._app, driver._loop = Self(_post_message=lambda _: work), "the loop"
    driver.send_message(events.Key("x", "x"))
    assert posted == ([] if is_closed else [(work, "the loop")])
    assert work.did == ([("close",)] if is_closed else [])


def test_a_lost_terminal_is_reported_once() -> None:
    driver: Any = Plain()
    driver._loop = Self()
    driver.on_lost = "the report"
    for _ in range(2):
        driver.report_lost()
    assert driver._loop.did == [("call_soon_threadsafe", "the report")]

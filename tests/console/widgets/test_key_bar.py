"""The bottom line: which keys it offers, what it counts, and what a click on it does."""

import re
from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of
from kit.samples.reactor import reactor_state, waiting
from service_tui.console.forms.help import Help
from service_tui.console.keys import keys_of, shown_key
from service_tui.console.widgets.key_bar import IN_REPLAY, keys_here, needing_text, screen_keys
from service_tui.desk.slices.risk import RiskView

STATE = seen_before(sample_state())
REACTOR = seen_before(reactor_state())


@pytest.mark.parametrize(
    ("needing", "shown"), [(0, ""), (1, "!1"), (99, "!99"), (100, "!99+"), (4_000, "!99+")]
)
def test_what_needs_the_person_is_counted_up_to_99(needing: int, shown: str) -> None:
    assert needing_text(needing) == shown


@pytest.mark.slow
async def test_keys_are_offered_where_they_do_something() -> None:
    async with running(STATE, first="portfolio", size=(150, 30)) as seen:

        def offered() -> set[str]:
            return {key.ident for key in keys_here(seen.app.front)}

        full = offered()
        own = [key for key in keys_of("portfolio") if key.ident in full]
        await seen.bring(replace(STATE, positions=(), risk=RiskView()))
        gone = {key.ident for key in own if seen.app.front.disabled_reason(key)}
        assert gone
        assert offered() == full - gone
        await seen.bring(replace(STATE, rewound_to=NOW))
        assert set(IN_REPLAY) <= offered()
        assert "F3 now" in seen.lines[-2]
        assert not set(IN_REPLAY) & full


def place_of(seen: Running, key: str, *, back: int = 1) -> int:
    """Where a key stands in the bottom line, or the one above it."""
    found = re.search(rf"(?<= ){re.escape(key)}(?=[ !])", seen.lines[-back])
    assert found is not None
    return found.start()


async def clicked(seen: Running, key: str, *, back: int = 1) -> None:
    """Click on a key of the bottom lines."""
    place = place_of(seen, key, back=back)
    await seen.pilot.click(offset=(place, len(seen.lines) - back))
    await seen.pilot.pause()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(80, 30), (130, 20)])
async def test_a_click_on_a_key_does_what_the_key_does(width: int, height: int) -> None:
    async with running(STATE, first="markets", size=(width, height)) as seen:
        places: list[int] = []
        for key in screen_keys():
            places.append(place_of(seen, shown_key(key)))
            await clicked(seen, shown_key(key))
            assert len(seen.app.screen_stack) == 1
            assert key.action == f"go('{seen.app.front.name_in_keys}')"
            if key.ident == "app.agents":
                # A click on the screen in front opens the list of its actions.
                await clicked(seen, shown_key(key))
                assert len(seen.app.screen_stack) == 2
                await seen.press("escape")
        # Each screen has its place whatever is in front.
        assert places == [place_of(seen, shown_key(key)) for key in screen_keys()]
        await clicked(seen, "?", back=2 if height >= 24 else 1)
        assert isinstance(seen.app.screen, Help)


@pytest.mark.slow
async def test_every_screen_has_its_name_from_80_cells_on() -> None:
    line_80 = "0 need 1 port 2 mkts 3 mon 4 react 5 redm 6 res 7 agt 8 set 9 ord"
    line_104 = "port markets mon reactor redeem research agents set orders"
    shortest, short = re.split(" ", line_80), re.split(" ", line_104)
    full = [key.label for key in screen_keys()]
    async with running(STATE, first="markets", size=(80, 24)) as seen:
        for width, names in ((80, shortest), (104, short), (160, full), (250, full)):
            await seen.pilot.resize_terminal(width, 24)
            await seen.until(lambda width=width: len(seen.lines[-1]) == width)
            line = seen.lines[-1]
            assert [name for name in names if name not in line] == []
        # Narrower there are the numbers alone, and the name of the screen in front.
        await seen.pilot.resize_terminal(70, 20)
        await seen.until(lambda: len(seen.lines[-1]) == 70)
        assert re.search(r" 0\S* +1  2  3  4  5  6  7  8  9  markets ", seen.lines[-1])
        await seen.app.run_action("go('log')")
        await seen.pilot.pause()
        assert " log " in seen.lines[-1]


@pytest.mark.slow
async def test_a_count_stands_beside_the_name_of_its_screen() -> None:
    async with running(STATE, first="markets", size=(160, 40)) as seen:
        waiting = len(STATE.supervision.pending_trades)
        assert ("7 agents  " in seen.lines[-1]) is (not waiting)
        two = replace(
            STATE.supervision, pending_trades=(pending_trade_of("h1"), pending_trade_of("h2"))
        )
        await seen.bring(replace(STATE, supervision=two))
        assert "7 agents 2  " in seen.lines[-1]


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 104, 160])
async def test_a_screen_keeps_its_name_whatever_waits(width: int) -> None:
    many = tuple(pending_trade_of(f"h{place}") for place in range(120))
    full = replace(STATE.supervision, pending_trades=many)
    none = replace(STATE.supervision, pending_trades=())
    names: list[list[str]] = []
    for view in (full, none):
        state = replace(STATE, supervision=view)
        async with running(state, first="markets", size=(width, 30)) as seen:
            names.append(re.findall(r"\d ([a-z]+)", seen.lines[-1]))
    assert names[0] == names[1]
    assert len(names[0]) == len(screen_keys())


@pytest.mark.slow
async def test_the_count_of_the_inbox_is_that_of_its_rows() -> None:
    signals = tuple(waiting(place, REACTOR) for place in range(40))
    state = replace(REACTOR, reactor=replace(REACTOR.reactor, signals=signals))
    async with running(state, first="attention", size=(160, 60)) as seen:
        count = int(re.findall(r"0 needs me!(\d+)", seen.lines[-1])[0])
        assert 0 < count == len(seen.app.front.table.order) < 40


@pytest.mark.slow
@pytest.mark.parametrize(("is_on", "label"), [(True, "H pause"), (False, "H turn on")])
async def test_the_key_of_the_reactor_is_named_after_what_it_does(
    *, is_on: bool, label: str
) -> None:
    config = replace(REACTOR.reactor.config, enabled=is_on)
    state = replace(REACTOR, reactor=replace(REACTOR.reactor, config=config))
    async with running(state, first="reactor", size=(160, 40)) as seen:
        assert label in seen.lines[-2]


@pytest.mark.slow
async def test_what_brings_the_first_row_comes_first_on_an_empty_list() -> None:
    empty = replace(REACTOR, reactor=replace(REACTOR.reactor, signals=()))
    async with running(empty, first="reactor", size=(120, 40)) as seen:
        assert seen.lines[-2].lstrip().startswith("n follow a wallet")
    async with running(REACTOR, first="reactor", size=(120, 40)) as seen:
        assert "n follow a wallet" not in seen.lines[-2]

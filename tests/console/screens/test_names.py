"""A market's name has the room that its neighbours leave empty."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import sample_state
from kit.samples.fleet import sample_supervision
from kit.samples.guarded import guarded_state
from kit.samples.reactor import reactor_state
from service_tui.desk.state import DeskState

pytestmark = pytest.mark.slow

FULL = replace(sample_state(), supervision=sample_supervision())


@pytest.mark.parametrize(
    ("screen", "keys", "state", "width", "letters"),
    [
        ("portfolio", (), FULL, 120, 46),
        ("portfolio", (), FULL, 160, 70),
        ("monitors", (), guarded_state(), 120, 32),
        ("monitors", ("o", "o"), guarded_state(), 120, 32),
        ("monitors", (), guarded_state(), 160, 46),
        ("reactor", (), reactor_state(), 120, 34),
        ("reactor", (), reactor_state(), 160, 46),
        ("blotter", (), FULL, 120, 30),
        ("blotter", (), FULL, 160, 46),
        ("blotter", ("o",), FULL, 120, 30),
        ("blotter", ("o",), FULL, 160, 46),
        ("approvals", (), FULL, 120, 40),
        ("approvals", (), FULL, 160, 30),
    ],
)
async def test_a_name_has_the_room_beside_it(  # noqa: PLR0917 - the columns of the table
    screen: str, keys: tuple[str, ...], state: DeskState, width: int, letters: int
) -> None:
    async with running(seen_before(state), first=screen, size=(width, 50)) as seen:
        await seen.press(*keys)
        titles = next(line for line in seen.lines if "market  " in line and " s" in line)
        name = titles.index("market  ")
        rest = titles[name + len("market") :]
        assert len("market") + len(rest) - len(rest.lstrip()) - 2 >= letters, titles


async def test_names_that_differ_in_their_middle_are_told_apart_where_they_have_no_room() -> None:
    state = sample_state()
    places = ("Ohio", "Georgia", "North Carolina", "Pennsylvania")
    markets = {
        one.market_id: replace(
            one, question=f"Will a Republican win {place} Presidential Election?"
        )
        for place, one in zip(places, state.markets.values(), strict=False)
    }
    shown = replace(state, markets=markets)
    async with running(seen_before(shown), first="markets", size=(80, 30)) as seen:
        assert "Will a Republican win Pennsylvania…  " in seen.text
        assert "Will a Republican win North Carolina…  " in seen.text
    async with running(seen_before(shown), first="markets", size=(200, 30)) as seen:
        assert "Will a Republican win Pennsylvania Presidential Election?" in seen.text

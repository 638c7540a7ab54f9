"""Notes of one's own: written and removed by a key, a sign beside their rows, and private."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW
from kit.samples.holdings import holdings_state
from kit.samples.whole import whole_desk
from service_tui.console.own_notes import HIDDEN, NOTE_SIGN
from service_tui.desk.all_fills import all_fills
from service_tui.desk.audit.exports import files_of
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.own_notes import NOTES_MAX, OWN_NOTES, TEXT_MAX, day_of, keep_note, notes_of
from service_tui.desk.slices.own_notes import Noted, NoteOn, OwnNote
from service_tui.desk.slices.team import TeamView
from service_tui.desk.state import DeskState
from service_tui.terms import PersonRole
from service_tui.units import Timestamp

STATE = seen_before(whole_desk())
FILL = all_fills(STATE)[0]
MARKET = next(one for one in STATE.markets.values() if one.is_open)
ON_MARKET = Noted(NoteOn.MARKET, MARKET.market_id, MARKET.question, MARKET.market_id)
ON_TRADE = Noted(NoteOn.TRADE, FILL.trade_id, FILL.question, FILL.market_id)
WIDE = (160, 50)


def with_notes(state: DeskState, *notes: OwnNote) -> DeskState:
    kept = {keep_note(one).name: keep_note(one).value for one in notes}
    return replace(state, preferences={**state.preferences, **kept})


def note(noted: Noted, text: str, *, at: float = NOW, person: str = "") -> OwnNote:
    return OwnNote(noted, text, Timestamp(at), person)


def given(seen: Running) -> list[SetPreference]:
    orders = [one for one in seen.doors.submitted if isinstance(one, SetPreference)]
    return [one for one in orders if one.name.startswith(OWN_NOTES)]


async def show_market(seen: Running, *keys: str) -> None:
    await seen.app.run_action(f"go('markets', '{MARKET.market_id}')")
    await seen.press(*keys)


async def test_a_key_writes_a_note_on_the_market_and_the_emptied_line_removes_it() -> None:
    async with running(STATE, first="markets", size=WIDE) as seen:
        await show_market(seen, "n", *"too cheap", "enter")
        (kept,) = given(seen)
        state = replace(STATE, preferences={**STATE.preferences, kept.name: kept.value})
        (written,) = notes_of(state)
        assert (written.noted, written.text, written.person) == (ON_MARKET, "too cheap", "")
        await seen.bring(state)
        assert any(f"{NOTE_SIGN} " in line for line in seen.lines)
        assert "own note" in seen.text
        assert "too cheap" in seen.text
        await seen.press("n", "ctrl+u", "enter")
        removed = given(seen)[-1]
        assert removed.name == kept.name
        assert "too cheap" not in removed.value
        await seen.bring(
            replace(STATE, preferences={**STATE.preferences, removed.name: removed.value})
        )
        assert "own note" not in seen.text


async def test_a_note_on_a_fill_is_on_its_trade_and_an_order_has_none() -> None:
    async with running(STATE, first="blotter", size=WIDE) as seen:
        await seen.press("n")
        assert "a note is on a fill" in seen.toasts[-1]
        await seen.press("o", "home", "n", *"why so late", "enter")
        (kept,) = given(seen)
        state = replace(STATE, preferences={**STATE.preferences, kept.name: kept.value})
        (written,) = notes_of(state)
        assert written.noted == ON_TRADE
        await seen.bring(state)
        assert NOTE_SIGN in seen.text
        assert "why so late" in seen.text


async def test_a_note_on_a_row_of_the_timeline_is_on_its_day() -> None:
    async with running(STATE, first="timeline", size=WIDE) as seen:
        await seen.press("home", "n")
        row = seen.app.front.table.selected()
        await seen.press(*"a bad day", "enter")
        (kept,) = given(seen)
        state = replace(STATE, preferences={**STATE.preferences, kept.name: kept.value})
        assert notes_of(state)[0].noted == Noted(NoteOn.DAY, day_of(row.at))
        await seen.bring(state)
        assert NOTE_SIGN in seen.text
        assert "a bad day" in seen.text


async def test_in_the_calendar_a_note_is_on_the_day_and_elsewhere_on_the_market() -> None:
    held = seen_before(holdings_state())
    async with running(held, first="exposure", size=WIDE) as seen:
        await seen.press("n")
        assert "no single market in this row" in seen.toasts[-1]
        await seen.press("o")
        row = seen.app.front.table.selected()
        await seen.press("n", *"many", "enter")
        await seen.press("o")
        one = seen.app.front.table.selected()
        await seen.press("n", *"mine", "enter")
        kept = {order.name: order.value for order in given(seen)}
        notes = notes_of(replace(held, preferences=kept))
        assert {(note.noted.on, note.noted.key, note.text) for note in notes} == {
            (NoteOn.DAY, day_of(row.resolves_at), "many"),
            (NoteOn.MARKET, one.market_id, "mine"),
        }


async def test_the_palette_finds_a_note_by_its_text_unless_amounts_are_masked() -> None:
    state = with_notes(STATE, note(ON_MARKET, "Zebra of the north"))
    async with running(state, size=WIDE) as seen:
        await seen.press("ctrl+p", *"zebra")
        await seen.until(lambda: "Zebra of the north" in seen.text)
        await seen.press("enter")
        await seen.until(lambda: seen.app.front.name_in_keys == "markets")
        assert seen.app.front.current_market() == MARKET.market_id
    masked = replace(state, preferences={**state.preferences, "privacy": "on"})
    async with running(masked, first="markets", size=WIDE) as seen:
        await show_market(seen)
        assert HIDDEN in seen.text
        await seen.press("ctrl+p", *"zebra")
        await seen.until(lambda: "No matches found" in seen.text)
        assert "Zebra" not in seen.text


async def test_on_a_shared_desk_each_person_sees_the_own_notes_alone() -> None:
    service = replace(STATE.service, shared=True)
    ada = TeamView("ada", PersonRole.TRADER, "w")
    notes = (note(ON_MARKET, "of ada", person="ada"), note(ON_MARKET, "of ben", person="ben"))
    state = replace(with_notes(STATE, *notes), service=service, team=ada)
    async with running(state, first="markets", size=WIDE) as seen:
        await show_market(seen)
        assert "of ada" in seen.text
        assert "of ben" not in seen.text
        await seen.press("n", "ctrl+u", *"more", "enter")
        assert '"person": "ada"' in given(seen)[-1].value
        await seen.bring(replace(state, team=None))
        assert "of ada" not in seen.text
        await seen.press("n")
        assert "the team is not loaded yet" in seen.toasts[-1]
    exported = files_of(state, NOW, {}, notes_of(state))["notes.json"]
    assert "of ada" in exported
    assert "of ben" not in exported


async def test_a_replay_shows_notes_and_changes_none() -> None:
    state = replace(with_notes(STATE, note(ON_MARKET, "then")), rewound_to=NOW)
    async with running(state, first="markets", size=WIDE) as seen:
        await show_market(seen, "n")
        assert "replay: nothing can be sent" in seen.toasts[-1]
        assert "then" in seen.text
        assert not given(seen)


@pytest.mark.parametrize("value", ["", "{", "[]", '{"text": 3}', '{"noted": null}'])
async def test_what_is_no_note_in_the_file_is_as_if_nothing_was_kept(value: str) -> None:
    kept = {**STATE.preferences, f"{OWN_NOTES}.market.{MARKET.market_id}": value}
    async with running(replace(STATE, preferences=kept), first="markets", size=WIDE) as seen:
        await show_market(seen)
        assert NOTE_SIGN not in seen.text


async def test_a_note_is_one_line_of_bounded_length_without_signs_that_a_terminal_obeys() -> None:
    state = with_notes(STATE, note(ON_MARKET, "a\x1b]0;x\x07\u202eb"))
    async with running(state, first="markets", size=WIDE) as seen:
        await show_market(seen)
        assert "\x1b]0" not in seen.text
        assert "\u202e" not in seen.text
        await seen.press("n", *"x" * 20, "enter")
        (kept,) = notes_of(replace(state, preferences={one.name: one.value for one in given(seen)}))
        assert "\x1b" not in kept.text
        assert len(kept.text) <= TEXT_MAX


async def test_there_is_an_end_to_how_many_are_kept() -> None:
    many = (note(Noted(NoteOn.DAY, f"d{number}"), "x") for number in range(NOTES_MAX))
    async with running(with_notes(STATE, *many), first="markets", size=WIDE) as seen:
        await show_market(seen, "n", "x", "enter")
        assert "notes are kept already: remove one" in seen.text
        assert not given(seen)

"""The `:` line on its screen: what it lists, fills in, keeps and returns."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import sample_state
from service_tui.console.command_line.history import CommandHistory
from service_tui.console.command_line.line import IN_SIGHT_MAX, LETTERS_MAX, CommandLine
from service_tui.console.command_line.verbs import VERBS, verb_of
from service_tui.console.keys import cap
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.desk.commands.settings import SetPreference

SEEN = seen_before(sample_state())
STATE = replace(
    SEEN, preferences={**SEEN.preferences, CommandHistory.PREFERENCE: "speed 1\nspeed 10"}
)
KEYS = f"{cap('command.complete')} completes, {cap('command.older')} recalls"


@asynccontextmanager
async def line(*typed: str) -> AsyncIterator[Running]:
    async with running(STATE, first="markets", size=(120, 40)) as seen:
        await seen.press("colon", *typed)
        assert isinstance(seen.app.screen, CommandLine)
        yield seen


def value(seen: Running) -> str:
    return seen.app.screen.query_one(PlainInput).value


def part(seen: Running, name: str) -> list[str]:
    """The lines of a part of the dialog, as they are painted."""
    region = seen.app.screen.query_one(f"#command-{name}").region
    return [text[region.x : region.right].rstrip() for text in seen.lines[region.y : region.bottom]]


async def test_it_lists_the_commands_with_their_help_and_counts_the_rest() -> None:
    async with line() as seen:
        listed = part(seen, "list")
        first = VERBS[0]
        assert len(listed) == IN_SIGHT_MAX
        assert listed[0].split() == [first.name, *first.help.split()]
        (hint,) = part(seen, "hint")
        assert hint.endswith(f" more, {KEYS}, {cap('app.palette')} finds by name")
        box = seen.app.screen.query_one(PlainInput)
        assert (box.max_length, box.cursor_blink) == (LETTERS_MAX, False)
        await seen.press(*"speed", "space")
        verb = verb_of("speed")
        assert verb is not None
        assert part(seen, "hint")[0].startswith(f"{verb.usage}   {verb.help}")
        assert all(text.startswith("speed ") for text in part(seen, "list"))


async def test_completing_goes_round_in_either_direction_and_stays_in_sight() -> None:
    async with line("s", "p", "e", "e", "d", "space") as seen:
        known = part(seen, "list")
        assert len(known) > 1
        places = []
        for key in ("tab", "tab", "shift+tab", "shift+tab"):
            await seen.press(key)
            places.append(value(seen))
        assert places == [known[0], known[1], known[0], known[-1]]
        assert seen.app.screen.query_one(PlainInput).cursor_position == len(known[-1])
    async with line() as seen:
        for _ in range(IN_SIGHT_MAX + 1):
            await seen.press("tab")
        assert part(seen, "list")[-1].split()[0] == value(seen) == VERBS[IN_SIGHT_MAX].name


async def test_the_only_completion_is_filled_in_with_a_blank_and_looked_up() -> None:
    async with line(*"spee", "tab") as seen:
        assert value(seen) == "speed "
        assert part(seen, "list")[0].startswith("speed ")


async def test_what_cannot_be_done_stays_with_its_reason_until_something_is_filled_in() -> None:
    async with line(*"zzz", "tab") as seen:
        assert (value(seen), part(seen, "hint")) == ("zzz", ["! Nothing to complete"])
        await seen.press("enter")
        assert isinstance(seen.app.screen, CommandLine)
        assert part(seen, "hint")[0].startswith("! ")
        await seen.press("up")
        assert "!" not in part(seen, "hint")[0]


async def test_older_commands_are_recalled_and_the_last_is_kept_first() -> None:
    async with line(*"half") as seen:
        recalled = []
        for key in ("up", "up", "down", "down"):
            await seen.press(key)
            recalled.append(value(seen))
        assert recalled == ["speed 10", "speed 1", "speed 10", "half"]
        await seen.press("up", "up", "enter")
        assert not isinstance(seen.app.screen, CommandLine)
        assert SetPreference(CommandHistory.PREFERENCE, "speed 10\nspeed 1") in seen.doors.submitted


async def test_an_empty_line_and_escape_and_a_click_outside_leave_it() -> None:
    async with running(STATE, first="markets", size=(120, 40)) as seen:
        for keys in (("space", "enter"), ("h", "escape")):
            await seen.press("colon", *keys)
            assert not isinstance(seen.app.screen, CommandLine)
        await seen.press("colon")
        await seen.pilot.click(offset=(60, 3))
        await seen.pilot.pause()
        assert not isinstance(seen.app.screen, CommandLine)
        assert not any(isinstance(one, SetPreference) for one in seen.doors.submitted)


async def test_a_click_fills_in_its_completion() -> None:
    async with line() as seen:
        await seen.click(VERBS[2].help)
        assert value(seen) == f"{VERBS[2].name} "

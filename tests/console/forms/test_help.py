"""The help page: its keys, its search, and the reasons for disabled keys."""

from dataclasses import replace

import pytest
from rich.text import Text
from textual.widgets import Static

from kit.console.doors import Running, running, seen_before
from kit.console.snapshot import assert_snapshot
from kit.samples.desk import NOW, sample_state
from service_tui.console.formats import price
from service_tui.console.forms.explain import WIDTH, Explain, Explanation
from service_tui.console.forms.help import Help, key_line, matches, moves
from service_tui.console.keys import KEYS, cap, keys_of, readable, shown_key

STATE = seen_before(sample_state())


def page(seen: Running) -> str:
    """What the dialog says, whole, whatever of it is in sight."""
    return str(seen.app.screen.query_one("#frame > Static", Static).content)


def line_of(text: str, label: str) -> str:
    return next(line for line in text.splitlines() if f" {label} " in f"{line} ")


@pytest.mark.slow
@pytest.mark.parametrize("first", ["attention", "blotter", "settings"])
async def test_help_shows_every_key_of_the_screen_and_of_the_frame(first: str) -> None:
    async with running(STATE, first=first) as seen:
        await seen.press("question_mark")
        text = page(seen)
        for key in (*keys_of(first), *keys_of("rows"), *keys_of("app"), *keys_of("ticket")):
            assert f"{shown_key(key)} " in text
            assert key.label in text
            assert key.tooltip in text


def test_every_group_has_its_own_keys() -> None:
    shown = Help("markets", "Markets", lambda _: "", (("halt", "stops"),))._groups()
    groups = {title: [line.plain for line in lines] for title, lines in shown}
    for title, idents in (
        ("Markets", ["markets"]), ("lists", ["rows"]), ("everywhere", ["app"]),
        ("order ticket", ["ticket"]), ("forms", ["form", "price_alert"]), ("halt", ["halt"]),
    ):  # fmt: skip
        assert [key_line(key, "").plain for ident in idents for key in keys_of(ident)] == groups[
            title
        ][: sum(len(keys_of(ident)) for ident in idents)]
    assert "stops" in groups[f"commands, after {cap('app.command')}"][0]


@pytest.mark.slow
async def test_what_is_disabled_says_why() -> None:
    remote = replace(STATE, service=replace(STATE.service, embedded=False), tickets=())
    async with running(remote) as seen:
        await seen.press("question_mark")
        text = page(seen)
        assert "(only the offline world can be paused or sped up)" in line_of(text, "pause")
        assert "(no previous view)" in line_of(text, "history back")
        assert "(nothing here can be dismissed)" in line_of(text, "dismiss")
        assert "(no sortable column)" in line_of(text, "sort")
        assert "(" not in line_of(text, "theme")


async def test_help_is_greyed_where_it_says_why() -> None:
    key = next(key for key in KEYS if key.ident == "app.pause")
    assert key_line(key, "not here").style == "muted"
    assert key_line(key, "").style == ""


@pytest.mark.slow
async def test_help_scrolls_and_closes_by_its_own_key() -> None:
    async with running(STATE, size=(80, 24)) as seen:
        await seen.press("question_mark")
        dialog = seen.app.screen
        assert isinstance(dialog, Help)
        frame = dialog.query_one("#frame")
        await seen.press("j", "ctrl+d")
        assert frame.scroll_offset.y == 11
        await seen.press("k")
        assert frame.scroll_offset.y == 10
        await assert_snapshot(seen.pilot, "help_80x24")
        await seen.press("question_mark")
        assert len(seen.app.screen_stack) == 1


@pytest.mark.slow
async def test_a_search_leaves_the_keys_that_match_and_esc_clears_it_before_it_closes() -> None:
    async with running(STATE, size=(80, 24)) as seen:
        await seen.press("question_mark", "j", "j", "slash", *"the")
        text = page(seen)
        assert "F8  theme           Next theme" in text
        assert "portfolio" not in text
        assert seen.app.screen.query_one("#frame").scroll_offset.y == 0
        await seen.press(*"mes")
        assert page(seen).splitlines() == ["everywhere", "      F7  themes          Choose a theme"]
        await seen.press("enter", "j", "escape")
        assert "portfolio" in page(seen)
        assert isinstance(seen.app.screen, Help)
        await seen.press("slash", "f", "escape")
        assert "portfolio" in page(seen)
        await seen.press("escape")
        assert len(seen.app.screen_stack) == 1


@pytest.mark.slow
async def test_a_search_finds_a_key_by_its_cap_and_a_reason_by_its_words() -> None:
    remote = replace(STATE, service=replace(STATE.service, embedded=False), tickets=())
    async with running(remote) as seen:
        await seen.press("question_mark", "slash", *"p")
        assert [line.split()[0] for line in page(seen).splitlines() if line.startswith("  ")] == [
            "p"
        ]
        await seen.press("space", *"offline world")
        assert "(only the offline world can be paused or sped up)" in page(seen)
        await seen.press(*"zzz")
        assert page(seen) == "No key matches /p offline worldzzz. esc shows all."


@pytest.mark.slow
async def test_a_search_that_finds_nothing_here_finds_the_keys_of_other_screens() -> None:
    async with running(STATE, first="markets") as seen:
        await seen.press("question_mark", "slash", *"amend")
        assert page(seen).splitlines()[:5] == [
            "Not on Markets. On other screens:",
            "",
            "portfolio (1)",
            "       O  open orders     Amend, cancel",
            "       e  amend           Price and size",
        ]
    async with running(STATE, first="portfolio") as seen:
        await seen.press("question_mark", "slash", *"amend")
        assert "other screens" not in page(seen)
        assert "amend           Price and size" in page(seen)


def test_no_key_means_two_things_in_one_place() -> None:
    meant = [(key.group, name) for key in KEYS for name in key.keys]
    assert [pair for pair in set(meant) if meant.count(pair) > 1] == []


def test_moves_come_from_the_table_itself() -> None:
    told = "\n".join(line.plain for line in moves())
    for part in ("j down", "ctrl+d", "first row", "open"):
        assert part in told


def test_keys_are_shown_as_they_stand_on_the_caps() -> None:
    assert [readable(name) for name in ("slash", "f8", "ctrl+q", "left_square_bracket", "f")] == [
        "/",
        "F8",
        "ctrl+q",
        "[",
        "f",
    ]


@pytest.mark.slow
async def test_an_explanation_says_formula_inputs_source_and_age() -> None:
    part = Explanation(
        "mark value",
        price(0.5),
        "shares x price [/]",
        (("shares", Text("12.00")),),
        "computed here",
        Text("3s"),
    )
    async with running(STATE, size=(80, 24)) as seen:
        await seen.app.push_screen(Explain("[b]Will it?", (part, part), NOW))
        await seen.pilot.pause()
        for said in ("= shares x price [/]", "12.00", "computed here, 3s ago", "[b]Will it?"):
            assert said in seen.text
        await seen.press("escape")
        assert len(seen.app.screen_stack) == 1


@pytest.mark.parametrize(("age", "told"), [("3s", "computed here, 3s ago"), ("", "computed here")])
def test_an_explanation_is_as_old_as_it_says(age: str, told: str) -> None:
    part = Explanation("mark value", price(0.5), "", (), "computed here", Text(age))
    assert Explain("Will it?", (part,), NOW).text().plain.split("\n")[-1] == told


def test_a_long_input_of_an_explanation_is_no_wider_than_the_page() -> None:
    long = Text("9" * 40)
    part = Explanation(
        "mark value", long, "", (("shares", long), ("price", long)), "here", Text("")
    )
    lines = Explain("Will it?", (part,), NOW).text().plain.split("\n")
    assert [len(line) for line in lines[:3]] == [WIDTH, WIDTH, WIDTH]
    # The inputs stand below the number that they make, to the right.
    assert [line[:4] for line in lines] == ["mark", "  sh", "  pr", "here"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["p"], True), (["a"], False), (["pause"], True), (["pau", "world"], True),
        (["p", "sun"], False), ([], True),
    ],
)  # fmt: skip
def test_one_letter_is_a_key_and_more_are_a_part_of_a_word(
    words: list[str], *, found: bool
) -> None:
    assert matches("   p  Pause  Stops the world", words) is found

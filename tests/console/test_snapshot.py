"""The kit that compares screens with stored pictures."""

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input, Static

from kit.console import snapshot


class Words(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        yield Static("one", id="words", markup=False)
        yield Input("typed")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(snapshot, "FOLDER", tmp_path / "snapshots")
    return tmp_path / "snapshots"


@pytest.mark.slow
async def test_a_picture_kept_is_the_same_again_and_a_change_is_a_diff(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Words()
    async with app.run_test(size=(20, 4)) as pilot:
        themes = ("textual-dark", "textual-light")
        monkeypatch.setenv("SNAPSHOT_UPDATE", "1")
        await snapshot.assert_snapshot(pilot, "words", themes=themes)
        kept = (own_folder / "words.txt").read_text(encoding="utf-8")
        assert kept.startswith("20 x 4\none                 │\n")
        assert "-- textual-light\n01 " in kept
        assert app.theme == "textual-dark"

        monkeypatch.delenv("SNAPSHOT_UPDATE")
        await snapshot.assert_snapshot(pilot, "words", themes=themes)
        app.query_one("#words", Static).update("two")
        await pilot.pause()
        with pytest.raises(AssertionError, match=r"-one +│\n\+two"):
            await snapshot.assert_snapshot(pilot, "words", themes=themes)


async def test_a_change_of_colour_alone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Words()
    async with app.run_test(size=(20, 4)) as pilot:
        monkeypatch.setenv("SNAPSHOT_UPDATE", "1")
        await snapshot.assert_snapshot(pilot, "words", themes=("textual-dark",))
        monkeypatch.delenv("SNAPSHOT_UPDATE")
        app.query_one("#words", Static).styles.color = "red"
        await pilot.pause()
        with pytest.raises(AssertionError, match=r"\n-01 [0-9a-f]{4}"):
            await snapshot.assert_snapshot(pilot, "words", themes=("textual-dark",))


async def test_a_picture_that_was_never_kept_fails() -> None:
    app = Words()
    async with app.run_test(size=(20, 4)) as pilot:
        with pytest.raises(AssertionError, match="words looks different: SNAPSHOT_UPDATE=1"):
            await snapshot.assert_snapshot(pilot, "words", themes=("textual-dark",))

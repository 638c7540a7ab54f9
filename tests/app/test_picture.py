"""The stored picture of the console's last screen: when it is shown, and when it is discarded."""

import os
from pathlib import Path
from stat import S_IMODE

import pytest

from service_tui.app import picture
from service_tui.app.picture import PICTURE_FILE, keep, show, shown

SIZE = os.terminal_size((40, 10))
LINES = ("first line", "second line")


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _: SIZE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


def test_what_was_kept_is_shown_at_the_same_size(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    keep(folder, LINES)
    assert [path.name for path in folder.iterdir()] == [PICTURE_FILE]
    assert S_IMODE((folder / PICTURE_FILE).stat().st_mode) == 0o600
    assert show(folder)
    shown = capfd.readouterr().err
    assert "first line\r\nsecond line" in shown


def test_a_link_in_place_of_the_picture_is_replaced_and_what_it_led_to_is_not(
    folder: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("40x10\nprecious")
    (folder / PICTURE_FILE).symlink_to(precious)
    assert not show(folder)
    keep(folder, LINES)
    assert precious.read_text() == "40x10\nprecious"
    assert not (folder / PICTURE_FILE).is_symlink()
    assert show(folder)


def test_a_pipe_in_place_of_the_picture_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / PICTURE_FILE)
    assert not show(folder)
    keep(folder, LINES)
    assert show(folder)


def test_a_picture_that_others_may_write_is_not_shown(folder: Path) -> None:
    keep(folder, LINES)
    (folder / PICTURE_FILE).chmod(0o622)
    assert not show(folder)


def test_in_a_folder_that_is_not_ours_alone_nothing_is_kept(folder: Path) -> None:
    folder.chmod(0o777)
    keep(folder, LINES)
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    keep(tmp_path / "gone", LINES)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_that_cannot_be_written_leaves_the_old_one(folder: Path) -> None:
    keep(folder, LINES)
    keep(folder, ("half a surrogate \ud800",))
    assert show(folder)
    (folder / "other").mkdir()
    (folder / PICTURE_FILE).unlink()
    (folder / PICTURE_FILE).mkdir()
    keep(folder, LINES)
    assert {path.name for path in folder.iterdir()} == {"other", PICTURE_FILE}


class Signals:
    """Signals of a process, whose answers are only noted."""

    left = 0

    def answer(self, how: object) -> None:
        del how

    def leave(self) -> None:
        Signals.left += 1


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_start_that_fails_gives_the_terminal_back_and_fails(
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_kept: bool,
) -> None:
    monkeypatch.setattr(picture, "Signals", Signals)
    if is_kept:
        keep(folder, LINES)
    left = Signals.left
    with pytest.raises(OSError, match="no room"), shown(folder):
        raise OSError("no room")
    assert capfd.readouterr().err.endswith("\x1b[?1049l\x1b[?25h") == is_kept
    assert Signals.left == left + 1

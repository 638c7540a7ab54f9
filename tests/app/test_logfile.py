"""The log file: its permissions, and paths that cannot be used as a log."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE

import pytest

from kit.desk.faults import broken_disk
from service_tui.app.logfile import LogError, keep_log
from service_tui.cli import main as cli


@contextmanager
def kept(path: Path) -> Iterator[logging.Logger]:
    """Log to a file for a while."""
    root = logging.getLogger()
    before, level = root.handlers, root.level
    root.handlers = []
    try:
        keep_log(path)
        yield logging.getLogger("x")
        root.handlers[0].close()
    finally:
        root.handlers = before
        root.setLevel(level)


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def test_the_log_and_its_folder_are_for_us_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "log"
    with kept(path) as log:
        log.warning("said")
    assert path.read_text().endswith("WARNING x said\n")
    assert S_IMODE(path.stat().st_mode) == 0o600
    assert S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_text_of_a_service_begins_a_line_of_the_log(tmp_path: Path) -> None:
    dated = "2026-01-01 00:00:00,000 INFO service_tui bought"
    forged = f"gone\n{dated}\x1b]52;c;eA==\x07\u2028next\r\x85"
    path = tmp_path / "data" / "log"
    with kept(path) as log:
        log.warning("markets: %s", forged)
        log.error("fault", exc_info=ValueError(forged))
    first, second, *traceback = path.read_text().splitlines()
    assert first.endswith(f"WARNING x markets: gone {dated} next")
    assert second.endswith("ERROR x fault")
    assert all(one.startswith("  ") for one in traceback)
    assert "\x1b" not in path.read_text()


def test_a_link_in_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    precious.chmod(0o644)
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    (folder / "log").symlink_to(precious)
    with pytest.raises(LogError, match="not a plain file"):
        keep_log(folder / "log")
    assert precious.read_text() == "precious"
    assert S_IMODE(precious.stat().st_mode) == 0o644


def test_a_pipe_in_place_of_the_log_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    with pytest.raises(LogError, match="not a plain file"):
        keep_log(tmp_path / "log")


@pytest.mark.parametrize("bits", [0o620, 0o602])
def test_a_log_that_others_may_write_is_refused(tmp_path: Path, bits: int) -> None:
    (tmp_path / "log").touch()
    (tmp_path / "log").chmod(bits)
    with pytest.raises(LogError, match="others may write"):
        keep_log(tmp_path / "log")


@as_root
def test_a_log_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").touch(mode=0o600)
    os.chown(tmp_path / "log", 65534, 65534)
    with pytest.raises(LogError, match="belongs to another user"):
        keep_log(tmp_path / "log")


def test_a_refused_folder_is_left_as_it_is_before_anything_is_logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o777)
    assert cli.run(["--data-dir", str(folder)]) == 1
    assert f"others may write {folder}" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("level", "kept"), [("debug", (10, 20)), ("error", (40, 40))])
def test_a_level_is_that_of_our_own_words_and_libraries_keep_to_info(
    level: str, kept: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (None, "service_tui", "httpx"):
        logger = logging.getLogger(name)
        monkeypatch.setattr(logger, "level", logger.level)
        monkeypatch.setattr(logger, "handlers", [])
    keep_log(tmp_path / "log", level)
    logging.getLogger().handlers[0].close()
    assert logging.getLogger("service_tui").level == kept[0]
    assert logging.getLogger().level == kept[1]
    assert logging.getLogger("httpx").level == max(kept[1], logging.WARNING)


def test_a_disk_that_refuses_the_log_is_said_once_and_never_with_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with kept(tmp_path / "data" / "log") as log:
        with broken_disk():
            log.warning("one")
            log.warning("two")
        log.warning("three")
    said = capsys.readouterr().err
    assert said.count("service-tui: the log cannot be written (") == 1
    assert "Traceback" not in said
    assert "three" in (tmp_path / "data" / "log").read_text()

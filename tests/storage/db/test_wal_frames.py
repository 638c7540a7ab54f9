"""What a log holds, told from its bytes and its index: frame by frame, up to what is not whole."""

import shutil
import struct
from contextlib import closing
from pathlib import Path

import pytest

from kit.service.small import small_database, write_journal
from service_tui.storage.db.connection import COMPANIONS, connect_to_write
from service_tui.storage.db.wal import WalContent, _summed, frames_of, log_of, look, page_size_of

HEADER, FRAME = 32, 4096 + 24


def left_by_a_kill(folder: Path, commits: int = 3, *, moved: int = 0) -> Path:
    """The files of a database in use, after so many commits; the first `moved` are in it too."""
    path, killed = small_database(folder / "in use", 3), folder / "killed"
    with closing(connect_to_write(path, with_wal=True, timeout_s=1)) as writing:
        writing.execute("PRAGMA synchronous=OFF")
        for number in range(commits):
            write_journal(writing, [4 + number])
            if number + 1 == moved:
                writing.execute("PRAGMA wal_checkpoint(PASSIVE)")
        for suffix in ("", *COMPANIONS[:2]):
            shutil.copyfile(f"{path}{suffix}", f"{killed}{suffix}")
    return killed


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    return left_by_a_kill(tmp_path)


def index_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-shm")


def in_log(database: Path) -> int:
    """Frames for which the log has room."""
    return (log_of(database).stat().st_size - HEADER) // FRAME


def cut(database: Path, size: int) -> None:
    log_of(database).write_bytes(log_of(database).read_bytes()[:size])


def spoil(path: Path, place: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[place] ^= 0x10
    path.write_bytes(raw)


def look_again(database: Path) -> WalContent:
    """What is seen where nobody has looked at this log before."""
    log_of(database).touch()
    return look(database)


def commits_of(database: Path) -> list[int]:
    """Numbers of the frames with which a commit ends."""
    frames = frames_of(database, in_log(database))
    return [number for number, frame in enumerate(frames, 1) if frame.pages]


def test_a_log_of_whole_commits_is_in_order(killed: Path) -> None:
    seen = look(killed)
    assert (seen.frames, seen.damage) == (in_log(killed), "")
    assert seen.index is not None
    assert (seen.index.frames, seen.index.backfilled) == (seen.frames, 0)
    assert commits_of(killed)[-1] == seen.frames
    assert len(commits_of(killed)) == 3
    index_of(killed).unlink()
    # Remembered: a reader makes the index anew, and with it the evidence is gone.
    assert look(killed) == seen
    assert look_again(killed) == WalContent(seen.frames)


def test_an_index_tells_what_the_database_has_already(tmp_path: Path) -> None:
    seen = look(left_by_a_kill(tmp_path, moved=3))
    assert seen.index is not None
    assert (seen.frames, seen.damage) == (seen.index.frames, "")
    assert 0 < seen.frames == seen.index.backfilled


def test_a_log_that_began_again_ends_where_its_older_frames_begin(tmp_path: Path) -> None:
    killed = left_by_a_kill(tmp_path, moved=2)
    seen = look(killed)
    assert (commits_of(killed), seen.damage) == ([seen.frames], "")
    assert 0 < seen.frames < in_log(killed)


@pytest.mark.parametrize("size", [None, 0, HEADER - 1, HEADER])
def test_where_no_frame_can_be_there_is_nothing_to_look_at(killed: Path, size: int | None) -> None:
    if size is None:
        log_of(killed).unlink()
    else:
        cut(killed, size)
    assert look(killed) == WalContent(0)


@pytest.mark.parametrize("missing", [1, FRAME - 1, FRAME])
def test_an_end_that_is_cut_is_missed_by_the_index_alone(killed: Path, missing: int) -> None:
    written, (*_, before, _last) = in_log(killed), commits_of(killed)
    cut(killed, HEADER + written * FRAME - missing)
    seen = look(killed)
    assert seen.frames == before
    assert seen.damage == f"its log has {before} of {written} pages that were written"
    # Without it, a commit that is not finished is what any kill may leave.
    index_of(killed).unlink()
    assert look_again(killed) == WalContent(before)


@pytest.mark.parametrize("inside", [0, 4, 8, 16, 24, 4119], ids=str)
def test_a_frame_that_is_not_whole_is_named_where_others_follow(killed: Path, inside: int) -> None:
    index_of(killed).unlink()
    _, second, last = commits_of(killed)
    spoil(log_of(killed), HEADER + (last - 2) * FRAME + inside)
    seen = look(killed)
    assert seen.damage == f"page {last - 1} of its log is damaged"
    assert seen.frames == max(one for one in (0, second) if one < last - 1)


def test_the_last_frame_may_be_torn_by_a_kill(killed: Path) -> None:
    index_of(killed).unlink()
    *_, before, last = commits_of(killed)
    spoil(log_of(killed), HEADER + last * FRAME - 1)
    assert look(killed) == WalContent(before)
    # The beginning of a frame behind it is not enough to be one.
    raw = log_of(killed).read_bytes()
    log_of(killed).write_bytes(raw + raw[HEADER : HEADER + 23])
    assert look(killed) == WalContent(before)
    log_of(killed).write_bytes(raw + raw[HEADER : HEADER + 24])
    assert look(killed).damage == f"page {last} of its log is damaged"


def test_frames_of_an_earlier_log_behind_the_end_are_no_damage(killed: Path) -> None:
    index_of(killed).unlink()
    frames, raw = in_log(killed), log_of(killed).read_bytes()
    older = bytearray(raw[HEADER : HEADER + FRAME])
    older[8:16] = b"another."
    log_of(killed).write_bytes(raw + older * 3)
    assert look(killed) == WalContent(frames)


def test_an_index_of_another_log_says_nothing(killed: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = left_by_a_kill(tmp_path / "other", 9)
    shutil.copyfile(index_of(other), index_of(killed))
    assert look(killed) == WalContent(in_log(killed))


@pytest.mark.parametrize("how", ["short", "halves differ", "sum is wrong", "empty"])
def test_an_index_that_is_not_whole_says_nothing(killed: Path, how: str) -> None:
    raw = index_of(killed).read_bytes()
    half = bytearray(raw[:48])
    half[16] ^= 0x10
    changed = {
        "short": raw[:135],
        "halves differ": bytes(half) + raw[48:],
        "sum is wrong": bytes(half) * 2 + raw[96:],
        "empty": bytes(136),
    }
    index_of(killed).write_bytes(changed[how])
    assert look(killed) == WalContent(in_log(killed))


@pytest.mark.parametrize("place", [0, 5, 10, 15, 16, 21, 26, 31])
def test_a_header_is_mended_from_what_stands_elsewhere(killed: Path, place: int) -> None:
    whole = [*frames_of(killed, 99)]
    spoil(log_of(killed), place)
    seen = look(killed)
    assert (seen.frames, seen.damage) == (len(whole), "the header of its log is damaged")
    assert [*frames_of(killed, 99)] == whole


def test_a_header_that_cannot_be_mended_gives_no_frames(killed: Path) -> None:
    spoil(log_of(killed), 0)
    spoil(log_of(killed), HEADER + 100)
    seen = look(killed)
    assert (seen.frames, seen.damage) == (0, "the header of its log is damaged")
    assert [*frames_of(killed, 99)] == []


@pytest.mark.parametrize("size", [HEADER + 10, HEADER + 24, HEADER + FRAME - 1])
def test_a_damaged_header_with_no_whole_frame_behind_it_gives_none(killed: Path, size: int) -> None:
    cut(killed, size)
    spoil(log_of(killed), 0)
    assert (look(killed).frames, look(killed).damage[:10]) == (0, "the header")


def test_a_damaged_header_of_a_database_that_is_gone_gives_no_frames(killed: Path) -> None:
    spoil(log_of(killed), 0)
    killed.unlink()
    assert (look(killed).frames, look(killed).damage[:10]) == (0, "the header")


def test_what_was_taken_back_lies_behind_the_last_commit_of_the_index(killed: Path) -> None:
    frames, raw = in_log(killed), log_of(killed).read_bytes()
    log_of(killed).write_bytes(raw + raw[HEADER : HEADER + FRAME] * 3)
    seen = look(killed)
    assert (seen.frames, seen.damage) == (frames, "")
    index_of(killed).unlink()
    assert look_again(killed).damage == f"page {frames + 1} of its log is damaged"


def test_as_many_frames_are_given_as_are_asked_for(killed: Path) -> None:
    frames = in_log(killed)
    assert [len([*frames_of(killed, count)]) for count in (0, 1, frames, 99)] == [
        0, 1, frames, frames,
    ]  # fmt: skip
    first, *_ = frames_of(killed, 1)
    raw = log_of(killed).read_bytes()
    assert first.page == int.from_bytes(raw[HEADER : HEADER + 4], "big")
    assert first.content == raw[HEADER + 24 : HEADER + FRAME]
    log_of(killed).unlink()
    assert [*frames_of(killed, 0)] == []


def test_a_log_of_other_pages_belongs_to_another_database(killed: Path) -> None:
    raw = bytearray(killed.read_bytes())
    raw[16:18] = (8192).to_bytes(2, "big")
    killed.write_bytes(raw)
    seen = look(killed)
    assert (seen.frames, seen.damage) == (0, "its log is of pages of 4096 bytes, not of 8192")
    # Of a database that is gone the size is not known.
    killed.unlink()
    assert look_again(killed).frames == in_log(killed)


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (b"SQLite format 3\0\x10\x00", 4096),
        (b"SQLite format 3\0\x02\x00 and more", 512),
        (b"SQLite format 3\0\x00\x01", 65_536),
        (b"SQLite format 4\0\x10\x00", None),
        (b"", None),
    ],
)
def test_the_size_of_a_page_stands_in_the_header(head: bytes, size: int | None) -> None:
    assert page_size_of(head) == size


def test_a_sum_goes_on_over_numbers_of_either_order() -> None:
    # Source: SQLite, "Database File Format", 4.2: s0 += x0 + s1, then s1 += x1 + s0.
    numbers = (1, 2, 2**32 - 1, 7)
    expected = (3, 13)
    for order in ("<", ">"):
        raw = struct.pack(f"{order}4I", *numbers)
        assert _summed(raw, order, (0, 0)) == expected
        assert _summed(raw[8:], order, _summed(raw[:8], order, (0, 0))) == expected

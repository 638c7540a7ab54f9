"""Archives that do not end, or are of nothing that can be installed."""

import io
import stat
import zipfile
from functools import partial
from pathlib import Path

import pytest

from service_tui.skills import install as installing
from service_tui.skills.install import SkillRefusedError, install

DOCUMENT = "---\nname: rain\ndescription: Buys rain.\nmetadata:\n  version: 1.0.0\n---\n"


def bounded(content: bytes, monkeypatch: pytest.MonkeyPatch) -> installing._Bounded:
    """A reading of at most seven bytes."""
    monkeypatch.setattr(installing, "BYTES_MAX", 5)
    monkeypatch.setattr(installing, "HEADERS_MAX", 2)
    return installing._Bounded(io.BytesIO(content))


def test_as_many_bytes_as_are_allowed_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    source = bounded(b"1234567", monkeypatch)

    assert source.readable()
    assert [source.read(3), source.read(0), source.read(), source.read()] == [
        b"123", b"", b"4567", b"",
    ]  # fmt: skip


@pytest.mark.parametrize("size", [-1, 8, 10**12])
def test_one_byte_more_is_refused_whatever_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    source = bounded(b"x" * 100, monkeypatch)

    with pytest.raises(SkillRefusedError, match="it is larger than 5 bytes"):
        source.read(size)
    assert source._source.tell() == 8


def members(**files: bytes) -> list[installing._Member]:
    return [installing._Member(name, partial(io.BytesIO, held)) for name, held in files.items()]


def test_as_many_files_and_bytes_as_are_allowed_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "FILES_MAX", 2)
    monkeypatch.setattr(installing, "BYTES_MAX", 5)
    installing._write(members(a=b"abc", b=b"de"), tmp_path / "whole")
    assert (tmp_path / "whole" / "a").read_bytes() == b"abc"
    assert (tmp_path / "whole" / "b").read_bytes() == b"de"
    with pytest.raises(SkillRefusedError, match="larger than 5 bytes"):
        installing._write(members(a=b"abc", b=b"def"), tmp_path / "large")
    with pytest.raises(SkillRefusedError, match="more than 2 files"):
        installing._write(members(a=b"", b=b"", c=b""), tmp_path / "many")


def test_a_second_file_of_one_name_does_not_replace_the_first(tmp_path: Path) -> None:
    twice = [*members(a=b"first"), *members(a=b"second")]
    with pytest.raises(FileExistsError):
        installing._write(twice, tmp_path / "in")
    assert (tmp_path / "in" / "a").read_bytes() == b"first"


def archive(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, DOCUMENT)
    return path


def test_an_archive_without_a_document_is_refused(tmp_path: Path) -> None:
    for names in (("run.py",), ("run.py", "other/SKILL.md")):
        source = archive(tmp_path / f"{len(names)}.zip", *names)
        with pytest.raises(SkillRefusedError, match=r"no SKILL\.md at the top of the archive"):
            install(source, tmp_path / "in")
    assert list((tmp_path / "in").iterdir()) == []


def test_each_member_of_a_zip_is_read_as_itself_and_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name in ("a.txt", "b.txt"):
            made.writestr(name, f"of {name}")
    with zipfile.ZipFile(path) as opened:
        # Read behind the listing, as the files are written.
        members = list(installing._of_zip(opened))
        assert [(one.name, one.opened().read().decode()) for one in members] == [
            ("a.txt", "of a.txt"), ("b.txt", "of b.txt")
        ]  # fmt: skip
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(link, "/etc/passwd")
    with zipfile.ZipFile(path) as opened, pytest.raises(SkillRefusedError, match="link is a link"):
        list(installing._of_zip(opened))


def test_a_zip_of_too_many_members_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "MEMBERS_MAX", 2)
    source = archive(tmp_path / "a.zip", "SKILL.md", "a/", "b/")

    with pytest.raises(SkillRefusedError, match="more than"):
        install(source, tmp_path / "in")

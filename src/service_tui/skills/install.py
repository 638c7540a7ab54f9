"""Installs a skill from a folder or an archive: whole and checked, or not at all.

Runs nothing and follows no link. What comes is copied into a hidden folder beside the
others, checked there, and renamed: nobody ever sees half of it.
"""

import bz2
import gzip
import io
import lzma
import os
import secrets
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from service_tui.skills.checking import problems_of
from service_tui.skills.package import (
    DOCUMENT,
    NotASkillError,
    SkillPackage,
    frontmatter,
    is_slug,
    read_package,
    read_text,
)

FILES_MAX: Final = 200
MEMBERS_MAX: Final = 2 * FILES_MAX
"""Files and folders of an archive."""

ZIP_OF_WINDOWS: Final = 0
"""Where a .zip says that it was made, by the number of its format: on DOS and what came after."""

BYTES_MAX: Final = 5_000_000
"""Of a whole skill. # ours: an honest one has twenty files and a hundred kilobytes."""

HEADERS_MAX: Final = 2_000_000
"""Bytes of a tar beside its files; two hundred honest headers have a tenth of it."""

STAGING: Final = ".staging-"
PASSED_OVER: Final = frozenset({"__pycache__", ".git", ".venv", ".DS_Store"})
TARS: Final = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
PRIVATE: Final = 0o700
_DAMAGED: Final = (
    tarfile.TarError,
    zipfile.BadZipFile,
    EOFError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
    RuntimeError,
    NotImplementedError,
)


class SkillRefusedError(Exception):
    """A skill was not installed, and nothing of it remains; the text is the reason."""


class _Bounded(io.RawIOBase):
    """The bytes of an archive, unpacked; it refuses where they do not end."""

    def __init__(self, source: IO[bytes]) -> None:
        super().__init__()
        self._source = source
        self._left = BYTES_MAX + HEADERS_MAX

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        # tarfile requests as many bytes as a header states: no more than one over is read.
        most = self._left + 1
        content = self._source.read(most if size < 0 else min(size, most))
        self._left -= len(content)
        if self._left < 0:
            raise SkillRefusedError(f"it is larger than {BYTES_MAX:,} bytes")
        return content


@dataclass(frozen=True, slots=True)
class _Member:
    """One file of what is to be installed; `opened` gives its bytes."""

    name: str
    opened: Callable[[], IO[bytes]]


def install(source: Path, into: Path, taken: Iterable[str] = ()) -> SkillPackage:
    """Install a skill.

    Args:
        source: its folder, or a .zip or .tar archive of it.
        into: where skills lie, each in a folder of its own.
        taken: names that other skills have already, such as those of the program itself.

    Returns:
        The skill, ready to run.

    Raises:
        SkillRefusedError: with the reason; nothing was installed.
    """
    try:
        into.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        staging = into / f"{STAGING}{secrets.token_hex(8)}"
        staging.mkdir(mode=PRIVATE)
    except OSError as error:
        raise SkillRefusedError(f"{into} cannot be written: {error.strerror}") from error
    try:
        return _installed(_staged(source, staging), into, frozenset(taken))
    except SkillRefusedError:
        raise
    except NotASkillError as error:
        raise SkillRefusedError(str(error)) from error
    except _DAMAGED as error:
        raise SkillRefusedError(f"{source.name} is damaged or no archive: {error}") from error
    except OSError as error:
        raise SkillRefusedError(f"{source}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def forget_halves(into: Path) -> None:
    """Remove the remains of an installation that was killed."""
    for path in into.glob(f"{STAGING}*"):
        shutil.rmtree(path, ignore_errors=True)


def _staged(source: Path, staging: Path) -> Path:
    """Copy the source into the staging folder.

    Returns:
        The skill's own folder below it.

    Raises:
        SkillRefusedError: it is no folder, no archive, or holds what a skill does not need.
    """
    name = source.name.lower()
    if source.is_symlink():
        raise SkillRefusedError(f"{source.name} is a link; give the folder itself")
    if source.is_dir():
        folder = source.resolve()
        _write(_of_folder(folder), staging / folder.name)
        return staging / folder.name
    if not source.exists():
        raise SkillRefusedError(f"{source} is not there")
    if not source.is_file():
        raise SkillRefusedError(f"{source.name} is neither a folder nor a plain file")
    if source.stat().st_size > BYTES_MAX + HEADERS_MAX:
        raise SkillRefusedError(f"it is larger than {BYTES_MAX:,} bytes")
    box = staging / "box"
    if name.endswith(".zip"):
        with zipfile.ZipFile(source) as archive:
            _write(_of_zip(archive), box)
    elif name.endswith(TARS):
        with (
            _unpacked(source, name) as file,
            tarfile.open(fileobj=_Bounded(file), mode="r|") as archive,
        ):
            _write(_of_tar(archive), box)
    else:
        raise SkillRefusedError(f"{source.name} is neither a folder nor a .zip or .tar archive")
    return _root_of(box)


def _unpacked(source: Path, name: str) -> IO[bytes]:
    """The plain tar in a file that may be packed."""
    if name.endswith((".gz", ".tgz")):
        return io.BufferedReader(gzip.GzipFile(source))
    if name.endswith(".xz"):
        return lzma.open(source)
    return bz2.open(source) if name.endswith(".bz2") else source.open("rb")


def _root_of(box: Path) -> Path:
    """The skill's folder in an archive: the one at the top, or the top itself under its name."""
    tops = sorted(box.iterdir())
    if len(tops) == 1 and tops[0].is_dir():
        return tops[0]
    if not (box / DOCUMENT).is_file():
        raise SkillRefusedError(f"no {DOCUMENT} at the top of the archive")
    name = frontmatter(read_text(box / DOCUMENT))[0].get("name", "")
    if not is_slug(name):
        raise SkillRefusedError(f"{DOCUMENT}: the name is not of lower-case letters, digits and -")
    return box.rename(box.with_name(name))


def _of_folder(folder: Path) -> Iterator[_Member]:
    """Every file of a folder; links and devices are refused."""
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER)
        for name in (*folders, *sorted(files)):
            path = Path(parent) / name
            relative = path.relative_to(folder).as_posix()
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                raise SkillRefusedError(f"{relative} is a link: a skill contains plain files only")
            if name in files and not stat.S_ISREG(mode):
                raise SkillRefusedError(f"{relative} is not a plain file")
            if name in files and name not in PASSED_OVER:
                yield _Member(relative, lambda path=path: path.open("rb"))


def _of_zip(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for count, info in enumerate(archive.infolist(), 1):
        if count > MEMBERS_MAX:
            raise SkillRefusedError(f"more than {FILES_MAX} files")
        mode = info.external_attr >> 16
        if mode and stat.S_ISLNK(mode):
            raise SkillRefusedError(
                f"{info.filename[:80]} is a link: a skill contains plain files only"
            )
        # Packers of Windows write its own separator, against the format: PowerShell does.
        is_of_windows = info.create_system == ZIP_OF_WINDOWS
        name = info.filename.replace("\\", "/") if is_of_windows else info.filename
        if not name.endswith("/"):
            yield _Member(name, lambda info=info: archive.open(info))


def _of_tar(archive: tarfile.TarFile) -> Iterator[_Member]:
    for count, info in enumerate(archive, 1):
        if count > MEMBERS_MAX:
            raise SkillRefusedError(f"more than {FILES_MAX} files")
        if info.isdir():
            continue
        if not info.isreg():
            raise SkillRefusedError(f"{info.name[:80]} is a link or device, and no plain file")
        yield _Member(info.name, lambda info=info: _opened(archive, info))


def _opened(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    member = archive.extractfile(info)
    if member is None:
        raise SkillRefusedError(f"{info.name[:80]} cannot be read")
    return member


def _write(members: Iterable[_Member], folder: Path) -> None:
    """Write files below a folder, never beside it, and not without end."""
    folder.mkdir(mode=PRIVATE)
    left = BYTES_MAX
    for count, member in enumerate(members):
        if count >= FILES_MAX:
            raise SkillRefusedError(f"more than {FILES_MAX} files")
        target = folder / _safe(member.name)
        target.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        with member.opened() as source:
            part = source.read(left + 1)
        left -= len(part)
        if left < 0:
            raise SkillRefusedError(f"it is larger than {BYTES_MAX:,} bytes")
        with target.open("xb") as copy:
            copy.write(part)


def _safe(name: str) -> Path:
    """A path below the folder.

    Returns:
        The relative path.

    Raises:
        SkillRefusedError: it would lead elsewhere, or is written in a way that might.
    """
    path = PurePosixPath(name)
    harmless = "\\" not in name and ":" not in name and name.isprintable()
    if path.is_absolute() or ".." in path.parts or not path.parts or not harmless:
        raise SkillRefusedError(f"the path {name[:80]!r} leads out of the skill's folder")
    return Path(*path.parts)


def _installed(staged: Path, into: Path, taken: frozenset[str]) -> SkillPackage:
    """Put a checked skill in its place."""
    problems = problems_of(staged)
    if problems:
        raise SkillRefusedError("; ".join(problems))
    slug = staged.name
    target = into / slug
    if slug in taken or os.path.lexists(target):
        raise SkillRefusedError(f"a skill is called {slug} already; remove it, or rename this one")
    # A rename onto an empty folder would pass: no program makes one there between these two lines.
    staged.rename(target)
    return read_package(target)

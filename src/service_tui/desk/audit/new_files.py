"""Writes new files whole or not at all, private to the owner, never over an existing file."""

import errno
import os
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write all of the files, or none if a name exists or the disk refuses.

    Raises:
        FileExistsError: a file of that name is there; nothing was written over it.
        OSError: the disk refuses; nothing is left.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in files:
        if os.path.lexists(folder / name):
            raise FileExistsError(f"{folder / name} exists already: nothing written")
    with ExitStack() as drafts, ExitStack() as named:
        # What takes room comes first: half of an export would look like a whole one.
        made = [(drafts.enter_context(_draft(folder / name, files[name])), name) for name in files]
        for draft, name in made:
            _give_name(draft, folder / name)
            named.callback((folder / name).unlink, missing_ok=True)
        named.pop_all()


def write_new(path: Path, text: str) -> None:
    """Write one file whole, readable for its owner alone, and never over another one.

    Raises:
        FileExistsError: a file of that name is there.
        OSError: the disk refuses; nothing is left of it.
    """
    if not path.name:
        raise OSError(errno.EINVAL, "not a file name", str(path))
    with _draft(path, text) as draft:
        _give_name(draft, path)


@contextmanager
def _draft(path: Path, text: str) -> Generator[Path]:
    """The text beside the file that it is meant for, on disk; no draft is left.

    Yields:
        The draft.

    Raises:
        OSError: the disk refuses; it names the requested file, and no draft of it.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        _fill(draft, text)
        yield draft
    except OSError as error:
        if error.filename not in {None, str(draft)} or error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None
    finally:
        # Nothing is left where it could not even be made.
        with suppress(OSError):
            draft.unlink()


def _fill(draft: Path, text: str) -> None:
    made = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(made, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _give_name(draft: Path, path: Path) -> None:
    """Rename to a free name: link the second name, then remove the first."""
    try:
        # Unlike a rename, a link never takes the place of what came there in the meantime.
        os.link(draft, path, follow_symlinks=False)
    except FileExistsError:
        raise FileExistsError(f"{path} exists already: nothing written") from None
    except OSError:
        # Some file systems know no second name.
        if os.path.lexists(path):
            raise FileExistsError(f"{path} exists already: nothing written") from None
        draft.replace(path)

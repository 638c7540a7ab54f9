"""A console that a page can have, without one: it sends back what it gets, and notes its life."""

import os
import sys
from pathlib import Path
from typing import Final

HEAD: Final = 5
"""Bytes of a packet before its content: its kind, and a length of four bytes."""


def main(notes: Path) -> None:
    """Note the size of the page, answer each packet of data with the same, and note the end."""

    def note(text: str) -> None:
        with notes.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    note(f"{os.environ['COLUMNS']}x{os.environ['ROWS']} {' '.join(sys.argv[2:])}".rstrip())
    sys.stdout.buffer.write(b"__GANGLION__\n")
    sys.stdout.buffer.flush()
    while len(head := sys.stdin.buffer.read(HEAD)) == HEAD:
        content = sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
        if head[:1] == b"D":
            sys.stdout.buffer.write(head + content)
            sys.stdout.buffer.flush()
        elif b"quit" in content:
            break
    note("ended")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

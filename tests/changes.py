"""The text of a release: the section of CHANGELOG.md of a tag, which must name this version.

python tests/changes.py v0.1.0
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r'VERSION: Final = "([^"]+)"')
NEXT = re.compile(r"^## ", re.MULTILINE)


def changes_of(tag: str, version: str, log: str) -> str:
    """The section of a version; ValueError where the tag is another one's or there is none."""
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag!r}, the version of the source is {version}")
    head = re.search(rf"^## {re.escape(version)}\b.*\n", log, re.MULTILINE)
    if head is None:
        raise ValueError(f"CHANGELOG.md has no section {version}")
    rest = log[head.end() :]
    end = NEXT.search(rest)
    text = (rest if end is None else rest[: end.start()]).strip()
    if not text:
        raise ValueError(f"the section {version} of CHANGELOG.md is empty")
    return text


def main() -> int:
    tag = sys.argv[1] if len(sys.argv) > 1 else ""
    source = (ROOT / "src" / "service_tui" / "version.py").read_text(encoding="utf-8")
    version = VERSION.search(source)
    assert version is not None
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    try:
        print(changes_of(tag, version[1], log))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

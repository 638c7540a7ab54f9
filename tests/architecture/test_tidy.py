import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "service_tui"
FILES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
BANNED_NAMES = {"utils", "helpers", "common", "misc", "manager", "processor"}
BANNED_WORDS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SECRET = re.compile(r"(sk_live_[A-Za-z0-9_-]{16,}|\b0x[0-9a-fA-F]{64}\b)")
KEPT_AS_IS = {"0xed9222e433d100f617b2d2b125fd36f055ee6ebf792e44d2c522ed33e55697f8"}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_there_is_code_to_look_at() -> None:
    assert len(FILES) > 50


def test_every_module_says_what_it_is() -> None:
    assert [path for path in FILES if not text_of(path).lstrip().startswith('"""')] == []


def test_no_module_is_called_after_nothing() -> None:
    assert [path for path in FILES if path.stem in BANNED_NAMES] == []


def test_no_test_module_imports_another() -> None:
    importing = re.compile(r"^(?:from|import) (?:\w+\.)*test_\w+", re.MULTILINE)
    assert [path for path in TESTS if importing.search(text_of(path))] == []


def test_nothing_is_left_to_do_in_a_comment() -> None:
    assert [path for path in FILES if BANNED_WORDS.search(text_of(path))] == []


NOUNS = "trade|order|signal|position|market|agent|run|skill|wallet|fill|alert|monitor|day|key"
UNCOUNTED = re.compile(
    rf"\{{[^{{}}]*(?:count|len\()[^{{}}]*\}} (?:{NOUNS})s\b(?!.* else )(?! of \{{whose)"
)


def test_things_are_counted_by_the_one_function_that_knows_one_from_many() -> None:
    # `1 trades`: a count and its noun in one text. Who writes both cases has an `else` there.
    found = [(path.name, hit) for path in FILES for hit in UNCOUNTED.findall(text_of(path))]
    # Said of more than one alone.
    many = {"{len(bare)} positions"}
    assert [one for one in found if one[1] not in many] == []


@pytest.mark.process
def test_no_secret_stands_in_the_tree() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    found = [
        (name, hit)
        for name in tracked
        if Path(name).suffix in {".py", ".md", ".toml"}
        and not name.startswith("tests/")
        and (ROOT / name).exists()
        for hit in SECRET.findall(text_of(ROOT / name))
        if hit not in KEPT_AS_IS
    ]
    assert found == []


OURS = re.compile(r'(?:# |"""|^)ours: (.+)')


def assumptions() -> Iterator[tuple[str, str]]:
    """Every choice of ours that the source marks, with what stands behind it."""
    for path in FILES:
        for line in text_of(path).splitlines():
            found = OURS.search(line.strip())
            if found:
                yield path.relative_to(SOURCE).as_posix(), found[1]


def test_the_readme_lists_every_assumption() -> None:
    readme = text_of(ROOT / "README.md")
    rows = {
        line.strip("|").partition("|")[0].strip().strip("`")
        for line in readme.splitlines()
        if line.startswith("| `") and ".py" in line
    }
    assert rows == {path for path, _ in assumptions()}


NAMED_FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")


def test_the_plan_names_files_that_are_there() -> None:
    named = set(NAMED_FILE.findall(text_of(ROOT / "docs" / "architecture.md")))
    assert len(named) > 30
    # A bare name stands for a file that many rooms have.
    assert [one for one in sorted(named) if "/" in one and not (SOURCE / one).exists()] == []

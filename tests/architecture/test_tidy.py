"""Names, docstrings and files that the whole repository keeps to."""

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "service_tui"
FILES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
BANNED_NAMES = {"utils", "helpers", "common", "misc", "manager", "processor"}
BANNED_WORDS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SECRET = re.compile(r"(sk_live_[A-Za-z0-9_-]{16,}|\b0x[0-9a-fA-F]{64}\b)")
KEPT_AS_IS = {
    "0xed9222e433d100f617b2d2b125fd36f055ee6ebf792e44d2c522ed33e55697f8",
    "0x2682012a4a4f1973119f1c9b90745d1bd91fa2bab387344f044cb3586864d18d",
}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_there_is_code_to_look_at() -> None:
    assert len(FILES) > 50


def test_every_module_says_what_it_is() -> None:
    assert [path for path in FILES if not text_of(path).lstrip().startswith('"""')] == []


def test_no_module_is_called_after_nothing() -> None:
    assert [path for path in FILES if path.stem in BANNED_NAMES] == []


@pytest.mark.slow
def test_no_test_module_imports_another() -> None:
    importing = re.compile(r"^(?:from|import) (?:\w+\.)*test_\w+", re.MULTILINE)
    assert [path for path in TESTS if importing.search(text_of(path))] == []


@pytest.mark.slow
def test_nothing_is_left_to_do_in_a_comment() -> None:
    assert [path for path in FILES if BANNED_WORDS.search(text_of(path))] == []


TWO_CLASSES = {
    "MalformedError": "what scripts catch: an answer of the service, and bytes that are not signed",
}
"""Names of more than one class, and why each stays."""


@pytest.mark.slow
def test_a_class_has_a_name_of_its_own() -> None:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in FILES:
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(str(path.relative_to(SOURCE)))
    twice = {name: sorted(where) for name, where in found.items() if len(where) > 1}
    assert {name: twice[name] for name in twice if name not in TWO_CLASSES} == {}
    assert [name for name in TWO_CLASSES if name not in twice] == []


IN_THE_ROOT = {
    *(".ci", ".github", ".gitignore", ".pre-commit-config.yaml"),
    *("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "README.md"),
    "SECURITY.md",
    *("Makefile", "hatch_build.py", "pyproject.toml"),
    *("requirements-dev.lock", "requirements.lock"),
    *("docs", "examples", "operation", "screenshots", "src", "tests", "themes"),
}


@pytest.mark.process
def test_the_root_holds_what_a_newcomer_expects_there() -> None:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no repository here")
    found = {Path(path).parts[0] for path in done.stdout.split("\0") if path}
    assert {path for path in found if (ROOT / path).exists()} == IN_THE_ROOT


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


@pytest.mark.slow
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


NAMED_FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")


def test_the_plan_names_files_that_are_there() -> None:
    named = set(NAMED_FILE.findall(text_of(ROOT / "docs" / "architecture.md")))
    assert len(named) > 30
    # A bare name stands for a file that many rooms have.
    assert [one for one in sorted(named) if "/" in one and not (SOURCE / one).exists()] == []

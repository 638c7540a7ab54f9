"""What keeps a folder from being a skill, one sentence each, with its fix."""

import ast
import json
from pathlib import Path

import pytest

from service_tui.skills import checking
from service_tui.skills.checking import DESCRIPTION_MAX, VERSION_MAX, problems_of

WHOLE = {"name": "rain", "description": "Buys rain.", "metadata": {"version": "1.0"}}


def skill(
    folder: Path, fields: dict[str, object], *, script: str = "print()", manifest: str = ""
) -> Path:
    """A folder with a document of these fields; every JSON is YAML."""
    path = folder / "rain"
    path.mkdir(exist_ok=True)
    lines = "\n".join(f"{name}: {json.dumps(one)}" for name, one in fields.items())
    (path / "SKILL.md").write_text(f"---\n{lines}\n---\n", encoding="utf-8")
    (path / "run.py").write_text(script, encoding="utf-8")
    if manifest:
        (path / "clawhub.json").write_text(manifest, encoding="utf-8")
    return path


def without(name: str) -> dict[str, object]:
    return {one: text for one, text in WHOLE.items() if one != name}


PROBLEMS: dict[str, tuple[dict[str, object], list[str]]] = {
    "nothing": (WHOLE, []),
    "no name": (without("name"), ["SKILL.md: no name; write name: rain"]),
    "a name of capitals": (
        WHOLE | {"name": "Rain" * 20},
        [f"SKILL.md: the name {'Rain' * 10!r} is not of lower-case letters, digits and -"],
    ),
    "another name": (
        WHOLE | {"name": "snow"},
        ["SKILL.md: it names 'snow', its folder is 'rain'; make them equal"],
    ),
    "no description": (
        without("description"), ["SKILL.md: no description; describe the skill in a sentence"],
    ),
    "the longest description": (WHOLE | {"description": "a" * DESCRIPTION_MAX}, []),
    "a longer description": (
        WHOLE | {"description": "a" * (DESCRIPTION_MAX + 1)},
        ["SKILL.md: the description has 1025 letters, at most 1024"],
    ),
    "no version": (
        without("metadata"),
        ["SKILL.md: no version; write it below metadata, for example version: 1.0.0"],
    ),
    "a version beside it": (without("metadata") | {"version": "1.0"}, []),
    "the longest version": (WHOLE | {"metadata": {"version": "1" * VERSION_MAX}}, []),
    "a longer version": (
        WHOLE | {"metadata": {"version": "1" * (VERSION_MAX + 1)}},
        ["SKILL.md: the version has 41 letters, at most 40"],
    ),
    "the version below goes first": (
        WHOLE | {"version": "1" * 99, "metadata": {"version": "1.0"}}, [],
    ),
    "a tabulator": (WHOLE | {"description": "a\tb"}, []),
    "control characters": (
        WHOLE | {"description": "a\x07", "metadata": {"version": "1.0", "b" * 50: "\x1b"}},
        [
            "SKILL.md: description contains control characters; remove them",
            f"SKILL.md: {'b' * 40} contains control characters; remove them",
        ],
    ),
    "several": (
        {"name": "snow"},
        [
            "SKILL.md: it names 'snow', its folder is 'rain'; make them equal",
            "SKILL.md: no description; describe the skill in a sentence",
            "SKILL.md: no version; write it below metadata, for example version: 1.0.0",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_document_has_these_problems(tmp_path: Path, name: str) -> None:
    fields, problems = PROBLEMS[name]
    assert problems_of(skill(tmp_path, fields)) == problems


def test_a_folder_without_a_document_is_no_skill(tmp_path: Path) -> None:
    assert problems_of(tmp_path) == ["no SKILL.md"]


@pytest.mark.parametrize(
    ("manifest", "is_whole"),
    [("{}", True), ("[]", False), ("{", False), ("null", False), ("[" * 50_000, False)],
)  # fmt: skip
def test_a_manifest_is_an_object(tmp_path: Path, manifest: str, *, is_whole: bool) -> None:
    found = problems_of(skill(tmp_path, WHOLE, manifest=manifest))
    assert (found == []) is is_whole
    assert all(one.startswith("clawhub.json: ") for one in found)


def test_a_folder_of_that_name_is_no_manifest(tmp_path: Path) -> None:
    folder = skill(tmp_path, WHOLE)
    (folder / "clawhub.json").mkdir()
    assert problems_of(folder) == []


def test_the_line_of_a_script_that_is_wrong_is_named(tmp_path: Path) -> None:
    found = problems_of(skill(tmp_path, WHOLE, script="a = 1\nb = = 2\n"))
    assert found == ["run.py: line 2: invalid syntax"]


def test_a_script_that_no_memory_holds_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> ast.Module:
        raise MemoryError("too deep")

    monkeypatch.setattr(checking.ast, "parse", fail)
    (problem,) = problems_of(skill(tmp_path, WHOLE))
    assert problem.startswith("run.py: too deep")


def test_a_script_that_cannot_be_parsed_at_all_is_tried_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def fail(_text: str, name: str = "", *_: object) -> ast.Module:
        tried.append(name)
        raise SystemError("recursion depth mismatch")

    monkeypatch.setattr(checking.ast, "parse", fail)
    (problem,) = problems_of(skill(tmp_path, WHOLE))
    assert problem.startswith("run.py: recursion depth mismatch")
    assert tried == ["run.py"] * 3

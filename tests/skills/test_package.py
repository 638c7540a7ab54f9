"""Skills on disk: documents, scripts and manifests."""

import hashlib
import json
import os
from pathlib import Path
from typing import Final

import pytest

from service_tui.skills.package import (
    FILE_MAX,
    PACKAGES_MAX,
    NotASkillError,
    budget_variable,
    frontmatter,
    installed,
    read_package,
    read_text,
)

PLAIN: Final = "---\nname: rain\ndescription: Buys rain.\n---\n"


def skill(folder: Path, slug: str, document: str = PLAIN) -> Path:
    path = folder / slug
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text(document, encoding="utf-8")
    return path


def test_a_frontmatter_is_read_as_text_at_two_levels() -> None:
    top, metadata = frontmatter(
        "\ufeff---\r\nname: 'rain'  \r\nversion: 1.0 # first\r\ndescription: |-\r\n  one\r\n\r\n"
        '  two: three\r\nmetadata:\r\n  version: "2.0"\r\n  author: A # B\r\nread_only: true\r\n'
        "---\r\nname: other\r\n"
    )
    assert top == {
        "name": "rain",
        "version": "1.0",
        "description": "one\n\ntwo: three",
        "read_only": "true",
    }
    assert metadata == {"version": "2.0", "author": "A"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("'It''s'", "It's"),
        ('"He said \\"buy\\" # now"', 'He said "buy" # now'),
        (">-\n  first\n  second", "first second"),
        ("1.10", "1.10"),
        ("yes", "yes"),
        ("2026-11-23", "2026-11-23"),
        ("!!python/object:os.system x", "x"),
        ("plain # comment", "plain"),
    ],
)
def test_a_text_is_what_yaml_says_it_is(written: str, meant: str) -> None:
    assert frontmatter(f"---\ndescription: {written}\nname: x\n---\n")[0]["description"] == meant


BOMB: Final = "a: &a [x]\n" + "\n".join(f"b{n}: &b{n} [*a, *a]" for n in range(9))


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        BOMB,
        "name: &a rain\nversion: *a",
        "a: &a {x: y}\n<<: *a",
        "name: rain\n'name': snow",
        "name: rain\n\tversion: 1",
        "metadata:\n\ta: 1",
        "metadata: {a: 1",
        "name: rain\n  version: 1",
        "%TAG ! x\nname: rain",
        "name: 'rain",
        "name: @rain",
        "a: 1\n" * 2_500_000,
        "{" * 10_000_000,
        "name: rain\nname: snow",
        "metadata:\n  a: 1\n  a: 2",
        "name:\train\n\tversion: 1",
        "name: a: b",
        "[" * 16_384,
        "a: " + "{a: " * 4_000,
        "- " * 8_000,
        "? " * 8_000,
        "\n".join(" " * depth + "a:" for depth in range(170)),
        "x: " + "a" * 20_000,
        "name: \0",
        "- rain\nname: rain",
    ],
    ids=lambda lines: lines[:20],
)
def test_a_frontmatter_that_is_none_is_refused_with_its_reason(lines: str) -> None:
    with pytest.raises(NotASkillError):
        frontmatter(f"---\n{lines}\n---\n")


def test_a_document_of_ten_megabytes_is_not_read_whole(tmp_path: Path) -> None:
    with pytest.raises(NotASkillError, match="too large"):
        read_package(skill(tmp_path, "rain", "---\nname: rain\n---\n" + "x" * 10_000_000))


def test_an_honest_depth_of_lists_is_read_and_a_deeper_one_refused() -> None:
    # The fields themselves are the first of sixteen.
    frontmatter("---\nname: rain\nlist: " + "[" * 15 + "]" * 15 + "\n---\n")
    with pytest.raises(NotASkillError, match="too many lists in lists"):
        frontmatter("---\nname: rain\nlist: " + "[" * 16 + "]" * 16 + "\n---\n")


def test_the_line_that_is_no_yaml_is_named() -> None:
    with pytest.raises(NotASkillError, match="line 3 of its document"):
        frontmatter("---\nname: rain\ndescription: a: b\n---\n")


@pytest.mark.parametrize("text", ["", "name: rain", "---\nname: rain\n", "# Title\n---\n---\n"])
def test_a_document_without_frontmatter_is_no_skill(text: str) -> None:
    with pytest.raises(NotASkillError):
        frontmatter(text)


def test_a_skill_is_named_as_its_folder(tmp_path: Path) -> None:
    assert read_package(skill(tmp_path, "rain")).slug == "rain"
    for slug in ("Rain", "other", "ra in", ".rain"):
        with pytest.raises(NotASkillError):
            read_package(skill(tmp_path, slug))


def test_what_is_no_skill_is_passed_over(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    skill(first, "rain")
    skill(second, "rain", PLAIN.replace("Buys rain.", "Another."))
    skill(second, "snow", "no frontmatter")
    skill(second, "hail", "---\n" + "a" * FILE_MAX)
    (second / "empty").mkdir()
    (second / "file").write_text("", encoding="utf-8")
    folders = [tmp_path / "nowhere", second / "file", first, second]
    found = installed(folders)
    assert [(one.slug, one.description) for one in found] == [("rain", "Buys rain.")]
    # What is of a person may change while the desk runs; they are listed by their names.
    (first / "rain" / "SKILL.md").write_text(PLAIN.replace("rain.", "less."), encoding="utf-8")
    skill(second, "fog", PLAIN.replace("name: rain", "name: fog"))
    found = installed(folders)
    assert [(one.slug, one.description) for one in found] == [
        ("fog", "Buys rain."), ("rain", "Buys less.")
    ]  # fmt: skip


def test_of_too_many_folders_the_first_by_name_are_looked_at(tmp_path: Path) -> None:
    # A disk has an order of its own.
    names = [f"s{number:03}" for number in range(PACKAGES_MAX + 2)]
    for name in reversed(names):
        skill(tmp_path, name, PLAIN.replace("name: rain", f"name: {name}"))
    assert [one.slug for one in installed([tmp_path])] == names[:PACKAGES_MAX]


MANIFESTS: Final = (
    "",
    "[]",
    "null",
    "[" * 50_000,
    '{"requires":3,"automaton":[]}',
    '{"requires":{"pip":"x","env":[1,null]},"automaton":{"entrypoint":3}}',
    '{"automaton":{"entrypoint":"../secret.py"}}',
    '{"automaton":{"entrypoint":"/etc/passwd"}}',
    '{"automaton":{"entrypoint":"link.py"}}',
    '{"automaton":{"entrypoint":"nowhere.py"}}',
    '{"automaton":{"entrypoint":"."}}',
)


@pytest.mark.parametrize("manifest", MANIFESTS, ids=range(len(MANIFESTS)))
def test_a_manifest_leads_nowhere_else(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "secret.py").write_text("secret", encoding="utf-8")
    path = skill(tmp_path, "rain")
    (path / "link.py").symlink_to(tmp_path / "secret.py")
    (path / "two.py").write_text("", encoding="utf-8")
    (path / "clawhub.json").write_text(manifest, encoding="utf-8")
    found = read_package(path)
    assert (found.requires, found.content_hash) == ((), None)


def test_the_only_script_is_the_one_that_runs(tmp_path: Path) -> None:
    path = skill(tmp_path, "rain")
    assert read_package(path).content_hash is None
    (path / "rain.py").write_text("print()", encoding="utf-8")
    first = read_package(path).content_hash
    assert first is not None
    (path / "other.py").write_text("print(1)", encoding="utf-8")
    assert read_package(path).content_hash is None
    manifest = {"automaton": {"entrypoint": "rain.py"}}
    (path / "clawhub.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert read_package(path).content_hash == first


def test_a_script_is_told_apart_to_its_last_letter(tmp_path: Path) -> None:
    path = skill(tmp_path, "rain")
    begun = "#" * (FILE_MAX - 1)
    for last in ("1", "2"):
        (path / "rain.py").write_text(begun + last, encoding="utf-8")
        hashed = hashlib.sha256((begun + last).encode()).hexdigest()
        assert read_package(path).content_hash == hashed


def test_what_a_skill_needs_is_listed_packages_first(tmp_path: Path) -> None:
    path = skill(tmp_path, "rain")
    needs = {"env": ["KEY", 5], "pip": ["numpy", None, "httpx"], "other": ["x"]}
    (path / "clawhub.json").write_text(json.dumps({"requires": needs}), encoding="utf-8")
    assert read_package(path).requires == ("numpy", "httpx", "KEY")


def test_the_fields_of_a_package_are_those_of_its_document(tmp_path: Path) -> None:
    document = (
        "---\nname: rain\nversion: '3'\ndescription: Buys\n  rain.\nmetadata:\n"
        "  displayName: Heavy rain\n  version: '2'\n---\n"
    )
    path = skill(tmp_path, "rain", document)
    found = read_package(path)
    assert (found.slug, found.name, found.version) == ("rain", "Heavy rain", "2")
    assert found.description == "Buys rain."
    plain = read_package(skill(tmp_path / "other", "rain", PLAIN))
    assert (plain.name, plain.version, plain.metadata) == ("rain", None, {})


@pytest.mark.parametrize(
    ("slug", "variable"),
    [
        ("rain", "SERVICE_RAIN_DAILY_BUDGET_USD"),
        ("heavy-rain-2", "SERVICE_HEAVY_RAIN_2_DAILY_BUDGET_USD"),
    ],
)
def test_the_budget_of_a_skill_has_its_variable(slug: str, variable: str) -> None:
    assert budget_variable(slug) == variable


def test_a_pipe_is_not_waited_for_and_a_file_is_read_to_its_bound(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotASkillError, match="pipe is not a plain file"):
        read_text(tmp_path / "pipe")
    (tmp_path / "full").write_bytes(b"\xff" + b"a" * (FILE_MAX - 1))
    assert read_text(tmp_path / "full") == "\ufffd" + "a" * (FILE_MAX - 1)
    (tmp_path / "over").write_bytes(b"a" * (FILE_MAX + 1))
    with pytest.raises(NotASkillError, match="over is too large"):
        read_text(tmp_path / "over")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_skill_that_another_systems_editor_saved_is_read_as_any_other(
    tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "SKILL.md"
    path.write_bytes("---\r\nname: tides\r\ndescription: Buys.\r\n---\r\n".encode(encoding))
    assert read_text(path) == "---\nname: tides\ndescription: Buys.\n---\n"

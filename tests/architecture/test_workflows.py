"""The workflows run what a person runs: targets of the Makefile, and files of the checkout."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from changes import changes_of

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGET = re.compile(r"^([a-z]+):", re.MULTILINE)
MAKES = re.compile(r"\bmake ([a-z]+)")
OFFICIAL = re.compile(r"^actions/[a-z-]+@v\d+$")
OF_THE_RUNNER = {"gh", "python"}


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps() -> list[dict[str, Any]]:
    jobs = [job for path in WORKFLOWS for job in read(path)["jobs"].values()]
    return [step for job in jobs for step in job["steps"]]


def test_every_command_of_a_workflow_is_a_target_or_a_file() -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    commands = [line for step in steps() if "run" in step for line in step["run"].splitlines()]
    assert len(commands) > 5
    for command in commands:
        program = command.split()[0]
        if program == "make":
            assert set(MAKES.findall(command)) <= targets, command
        else:
            assert program in OF_THE_RUNNER or (ROOT / program).is_file(), command


def test_every_action_is_an_official_one_by_its_version() -> None:
    used = {step["uses"] for step in steps() if "uses" in step}
    assert "actions/checkout@v4" in used
    assert [name for name in used if not OFFICIAL.match(name)] == []


def test_the_pythons_of_the_workflows_are_those_that_the_package_names() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "checks.yml")["jobs"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert jobs["tests"]["strategy"]["matrix"]["python"] == named


def test_every_way_to_install_is_one_that_the_script_knows() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "checks.yml")["jobs"]
    script = (ROOT / "tests" / "installed.py").read_text(encoding="utf-8")
    for way in jobs["installed"]["strategy"]["matrix"]["way"]:
        assert f'"{way}": by_{way},' in script


def test_a_proposal_of_new_libraries_is_made_for_each_kind() -> None:
    updates = read(ROOT / ".github" / "dependabot.yml")["updates"]
    assert {one["package-ecosystem"] for one in updates} == {"pip", "github-actions"}


LOG = "# Changes\n\n## Unreleased\n\n- c\n\n## 0.2.0 (2026-12-01)\n\n- b\n\n## 0.1.0\n\n- a\n"


@pytest.mark.parametrize(("version", "text"), [("0.2.0", "- b"), ("0.1.0", "- a")])
def test_the_text_of_a_release_is_its_section(version: str, text: str) -> None:
    assert changes_of(f"v{version}", version, LOG) == text


@pytest.mark.parametrize(
    ("tag", "version", "problem"),
    [
        ("v0.2.1", "0.2.0", "the tag is 'v0.2.1', the version of the source is 0.2.0"),
        ("v0.3.0", "0.3.0", "no section 0.3.0"),
        ("", "0.2.0", "the tag is ''"),
    ],
)
def test_a_tag_of_another_version_or_without_changes_is_refused(
    tag: str, version: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        changes_of(tag, version, LOG)

"""What a wheel and an sdist hold, by hatchling's own builders in this process."""

import tomllib
from pathlib import Path

import pytest
from hatchling.builders.plugin.interface import BuilderInterface
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "service_tui"


def held(builder: BuilderInterface) -> set[str]:
    return {file.distribution_path for file in builder.recurse_included_files()}


def tree(folder: Path, name: str) -> set[str]:
    """Every file below a folder, named as it lies below `name` in the package."""
    return {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


@pytest.fixture(scope="module")
def wheel() -> WheelBuilder:
    return WheelBuilder(str(ROOT))


@pytest.mark.slow
def test_a_wheel_holds_the_program_with_its_themes_and_nothing_else(wheel: WheelBuilder) -> None:
    expected = tree(SOURCE, "service_tui") | tree(ROOT / "themes", "service_tui/themes")
    assert held(wheel) == expected


def test_a_wheel_puts_the_man_page_where_man_looks(wheel: WheelBuilder) -> None:
    assert wheel.config.shared_data == {
        str(ROOT / "docs" / "service-tui.1"): "share/man/man1/service-tui.1"
    }


@pytest.mark.parametrize(
    "needed",
    [
        "service_tui/py.typed",
        "service_tui/themes/night.toml",
        "service_tui/console/styles/base.tcss",
        "service_tui/skills/bundled/momentum/SKILL.md",
        "service_tui/skills/bundled/momentum/clawhub.json",
    ],
)
def test_what_the_program_opens_at_run_time_is_in_the_wheel(
    wheel: WheelBuilder, needed: str
) -> None:
    assert needed in held(wheel)


@pytest.mark.slow
def test_an_sdist_holds_what_a_wheel_is_made_from() -> None:
    # hatchling itself adds pyproject.toml and the licence.
    rest = {"CHANGELOG.md", "README.md", "docs/service-tui.1", "hatch_build.py"}
    expected = tree(ROOT / "src", "src") | tree(ROOT / "themes", "themes") | rest
    assert held(SdistBuilder(str(ROOT))) == expected


def test_the_page_of_the_package_is_the_readme_without_its_pictures(wheel: WheelBuilder) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    page = wheel.metadata.core.readme.splitlines()
    assert "](screenshots/" not in wheel.metadata.core.readme
    left_out = [line for line in readme if line not in page]
    assert left_out
    assert all(line.startswith("![") for line in left_out)


def test_the_licence_and_the_pythons_are_named(wheel: WheelBuilder) -> None:
    core = wheel.metadata.core
    assert (core.license_expression, core.license_files) == ("MIT", ["LICENSE"])
    assert "the service-tui authors" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    oldest = core.requires_python.removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in core.classifiers
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert config["tool"]["basedpyright"]["pythonVersion"] == oldest

"""The pages of docs/ that are made from the source are what the source makes."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kit.pages.every import PAGES
from kit.pages.filters import GRAMMAR
from kit.pages.keys import page as page_of_keys
from kit.pages.site import LinkError, build
from kit.pages.table import table
from service_tui.console.keys import KEYS
from service_tui.console.screens.markets.filter import COMPARED, NAMED, NAMES, search_of

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_source_makes(name: str) -> None:
    # `make docs` writes it anew.
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name]()


def test_every_action_has_one_row() -> None:
    rows = re.findall(r"\| `([a-z_]+\.[a-z_0-9]+)` \|$", page_of_keys(), flags=re.MULTILINE)
    assert sorted(rows) == sorted(key.ident for key in KEYS)


@pytest.mark.parametrize("typed", [typed for typed, _ in GRAMMAR])
def test_the_examples_of_the_search_can_be_typed(typed: str) -> None:
    search = search_of(typed)
    assert search
    assert search.problem == ""


def test_the_columns_of_the_markets_can_be_typed() -> None:
    numbers, text = re.findall(
        r"^\| markets \| (.*) \| (.*) \|$", PAGES["filters.md"](), flags=re.MULTILINE
    )[0]
    for name in re.findall("`([^`]+)`", numbers):
        assert NAMES[name] in COMPARED
        assert search_of(f"{name}:>1").comparisons
    for name in re.findall("`([^`]+)`", text):
        found = search_of(f"{name}:s")
        assert found.choices if name in NAMED else found.cells


def test_a_bar_in_a_cell_is_escaped() -> None:
    assert table(("a",), [("x|y\nz",)]) == "| a |\n|---|\n| x\\|y z |\n"


def test_the_man_page_names_every_command() -> None:
    page = PAGES["service-tui.1"]().replace("\\-", "-")
    named = re.findall(r'^\.SS "(.*)"$', page, flags=re.MULTILINE)
    assert named == re.findall(r"^####? (.*)$", PAGES["command-line.md"](), flags=re.MULTILINE)
    assert {"serve", "people add", "db", "completion"} <= set(named)


@pytest.mark.process
def test_the_man_page_is_read_without_a_complaint() -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not on this machine")
    words = [groff, "-man", "-Tutf8", "-ww", "-z", DOCS / "service-tui.1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


LOCAL = re.compile(r'(?:href|src)="(?![a-z]+:)([^"#]*)(?:#([^"]*))?"')


@pytest.mark.slow
def test_every_link_of_the_documents_leads_to_a_page_a_place_or_a_file(tmp_path: Path) -> None:
    pages = build(tmp_path)
    assert len(pages) > len(PAGES) + 10
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    for page, text in texts.items():
        for file, place in LOCAL.findall(text):
            there = (page.parent / file).resolve() if file else page
            assert there.exists(), f"{page.name}: {file}"
            if place:
                assert f'id="{place}"' in texts[there], f"{page.name}: {file}#{place}"


@pytest.mark.parametrize("link", ["docs/none.md", "#nowhere", "docs/a.md#nowhere", "../outside.md"])
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, link: str) -> None:
    root = tmp_path / "checkout"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "a.md").write_text("# A\n\n[up](../README.md#the-top)\n")
    (root / "README.md").write_text("# The top\n\n[a](docs/a.md#a)\n")
    assert len(build(tmp_path / "site", root)) == 2
    (root / "README.md").write_text(f"# The top\n\n[a]({link})\n")
    with pytest.raises(LinkError, match=re.escape(f"README.md: {link} leads nowhere")):
        build(tmp_path / "site", root)


def test_the_command_line_lists_no_hidden_option_and_writes_pairs_as_words() -> None:
    page = PAGES["command-line.md"]()
    assert "SUPPRESS" not in page
    assert "('" not in page
    assert "[--export RUN FILE]" in page

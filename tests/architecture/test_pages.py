"""The pages of docs/ that are made from the source are what the source makes."""

import re
from pathlib import Path

import pytest

from kit.pages.every import PAGES
from kit.pages.filters import GRAMMAR
from kit.pages.keys import page as page_of_keys
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


LINK = re.compile(r"\]\((?!https?://)([^)#]+)(#[^)]*)?\)")


def test_every_link_of_the_documents_leads_somewhere() -> None:
    pages = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]
    assert len(pages) > len(PAGES)
    for page in pages:
        for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            there = page.parent / target
            assert there.exists(), f"{page.name}: {target}"
            if anchor:
                assert anchor[1:] in anchors(there), f"{page.name}: {target}{anchor}"


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


def test_the_command_line_lists_no_hidden_option_and_writes_pairs_as_words() -> None:
    page = PAGES["command-line.md"]()
    assert "SUPPRESS" not in page
    assert "('" not in page
    assert "[--export RUN FILE]" in page

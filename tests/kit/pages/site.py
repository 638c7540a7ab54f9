"""The documents as pages for a browser: `make site` writes them to `site/`.

A link keeps its target: another page, a place in it, or a file of the checkout, which is copied.
One that leads nowhere fails the run. The pages fetch nothing from elsewhere.
"""

import html
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

ROOT: Final = Path(__file__).resolve().parents[3]
START: Final = "README.md"
PAPERS: Final = (
    "examples/README.md",
    *("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"),
)

STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif }
body { display: grid; grid-template-columns: 15rem minmax(0, 52rem); gap: 2.5rem; margin: 2rem }
nav a { display: block; padding: .15rem 0; text-decoration: none }
nav a[aria-current] { font-weight: 700 }
img { max-width: 100% } table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top }
pre { background: #8882; overflow-x: auto; padding: .8rem } code { font-size: .9em }
@media (max-width: 60rem) { body { display: block; margin: 1rem } }
"""


class LinkError(Exception):
    """A link leads nowhere; names the page and the target."""


def slug(title: str) -> str:
    """The name of a heading as a place in its page, as the usual hosts of repositories make it."""
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def sources(root: Path) -> list[str]:
    """Every page, from the root of a checkout: the README, the documents, the papers."""
    documents = sorted((root / "docs").glob("*.md"))
    papers = (name for name in PAPERS if (root / name).exists())
    return [START, *(f"docs/{path.name}" for path in documents), *papers]


def build(target: Path, root: Path = ROOT) -> list[Path]:
    """Write every page of a checkout below a folder, with the files that they name.

    Returns:
        The pages.

    Raises:
        LinkError: a link leads nowhere.
    """
    parsed = {
        name: _reader().parse((root / name).read_text(encoding="utf-8")) for name in sources(root)
    }
    places = {name: set(_places(tokens)) for name, tokens in parsed.items()}
    titles = {name: _title(tokens) for name, tokens in parsed.items()}
    for name, tokens in parsed.items():
        for token in _links(tokens):
            if (file := _lead(token, root / name, places, root)) is not None:
                _copy(file, target / file.relative_to(root))
    return [_write(target, name, parsed[name], titles) for name in parsed]


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return reader.use(anchors_plugin, max_level=6, slug_func=slug)


def _places(tokens: list[Token]) -> Iterator[str]:
    return (str(token.attrs["id"]) for token in tokens if token.type == "heading_open")


def _title(tokens: list[Token]) -> str:
    place = next(n for n, token in enumerate(tokens) if token.type == "heading_open")
    return tokens[place + 1].content


def _links(tokens: list[Token]) -> Iterator[Token]:
    """Links and pictures that name a place here, not one of the net."""
    for token in tokens:
        for inner in token.children or ():
            goal = inner.attrs.get("href" if inner.type == "link_open" else "src", "")
            if inner.type in {"link_open", "image"} and not re.match(r"[a-z]+:", str(goal)):
                yield inner


def _lead(token: Token, page: Path, places: dict[str, set[str]], root: Path) -> Path | None:
    """Have a link lead to the page of its target.

    Returns:
        The file that it names instead, to be copied.
    """
    attribute = "href" if token.type == "link_open" else "src"
    file, _, place = str(token.attrs[attribute]).partition("#")
    there = (page.parent / file).resolve() if file else page
    named = there.relative_to(root).as_posix() if there.is_relative_to(root) else ""
    if not named or not there.exists() or (place and place not in places.get(named, ())):
        raise LinkError(f"{page.relative_to(root)}: {token.attrs[attribute]} leads nowhere")
    if named not in places:
        return there if there.is_file() else None
    up = "../" * (len(page.relative_to(root).parts) - 1)
    token.attrs[attribute] = f"{up}{_file_of(named)}" + (f"#{place}" if place else "")
    return None


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def _file_of(name: str) -> str:
    return "index.html" if name == START else name.removesuffix(".md") + ".html"


def _write(target: Path, name: str, tokens: list[Token], titles: dict[str, str]) -> Path:
    up = "../" * name.count("/")
    reader = _reader()
    body = reader.renderer.render(tokens, reader.options, {})
    rows = (
        f'<a href="{up}{_file_of(one)}"{" aria-current=page" if one == name else ""}>'
        f"{html.escape(title)}</a>"
        for one, title in titles.items()
    )
    path = target / _file_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    path.write_text(
        f'<!doctype html><html lang="en"><head>{head}<title>{html.escape(titles[name])}</title>'
        f"<style>{STYLE}</style></head><body><nav>{''.join(rows)}</nav><main>{body}</main></body>"
        "</html>\n",
        encoding="utf-8",
    )
    return path


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    try:
        print(f"{len(build(folder))} pages in {folder}; begin with {folder / 'index.html'}")
    except LinkError as error:
        sys.exit(str(error))

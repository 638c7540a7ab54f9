"""Write every page of docs/ that is made from the source."""

from pathlib import Path

from kit.pages.every import PAGES

DOCS = Path(__file__).resolve().parents[3] / "docs"

for name, page in PAGES.items():
    (DOCS / name).write_text(page(), encoding="utf-8")

"""The names of colours: keys of a theme file, and the styles made from them."""

from collections.abc import Mapping
from typing import Final

GROUND: Final = (
    "background",
    "surface",
    "panel",
    "foreground",
    "muted",
    "faint",
    "spark",
    "accent",
)
MEANINGS: Final = (
    "profit",
    "loss",
    "warn",
    "stale",
    "breach",
    "sim",
    "dry",
    "live",
    "yes",
    "no",
)
ROWS: Final = (
    "header",
    "heading",
    "row-cursor",
    "row-cursor-blurred",
    "row-mark",
    "glow",
    "glow-up",
    "glow-down",
)
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "ground": GROUND,
    "meaning": MEANINGS,
    "rows": ROWS,
}
"""Every key of a theme file; all are required, each a `#rrggbb`."""

INKS: Final = ("foreground", "muted", "heading", "accent", *MEANINGS)
"""Names that colour text; `flat` is `muted`."""

ATTRIBUTES: Final = frozenset({"bold", "dim", "italic", "underline", "reverse", "strike"})
"""Attributes that may accompany a name in the style of a Text: `bold profit`."""

PAPERS: Final = (
    "background",
    "surface",
    "panel",
    "header",
    "row-cursor",
    "row-cursor-blurred",
    "row-mark",
    "glow",
    "glow-up",
    "glow-down",
)
"""Names that colour the ground under text."""

DERIVED: Final[Mapping[str, str]] = {
    "flat": "muted",
    "border": "accent",
    "border-blurred": "faint",
    "block-cursor-background": "row-cursor",
    "block-cursor-foreground": "foreground",
    "block-cursor-blurred-background": "row-cursor-blurred",
    "block-cursor-blurred-foreground": "foreground",
    "block-hover-background": "row-cursor-blurred",
    "input-cursor-background": "foreground",
    "input-cursor-foreground": "background",
    "input-selection-background": "row-cursor",
    "screen-selection-background": "row-cursor",
    "footer-background": "header",
    "footer-foreground": "muted",
    "footer-key-foreground": "accent",
    "scrollbar": "faint",
    "scrollbar-hover": "muted",
    "scrollbar-active": "accent",
    "scrollbar-background": "surface",
    "scrollbar-background-hover": "surface",
    "scrollbar-background-active": "surface",
    "scrollbar-corner-color": "surface",
    "link-color": "accent",
    "text-muted": "muted",
    "text-primary": "accent",
    "text-secondary": "muted",
    "text-accent": "accent",
    "text-success": "profit",
    "text-warning": "warn",
    "text-error": "loss",
}
"""Textual's own variables, and the names of ours that colour them."""

FALLBACKS: Final[Mapping[str, str]] = {
    "muted": "foreground-muted",
    "flat": "foreground-muted",
    "faint": "surface-lighten-2",
    "spark": "foreground-muted",
    "profit": "text-success",
    "loss": "text-error",
    "warn": "text-warning",
    "stale": "text-warning",
    "breach": "text-error",
    "sim": "text-secondary",
    "dry": "text-warning",
    "live": "text-error",
    "yes": "text-primary",
    "no": "text-accent",
    "header": "panel",
    "heading": "foreground-muted",
    "row-cursor": "primary-muted",
    "row-cursor-blurred": "panel",
    "row-mark": "secondary-muted",
    "glow": "panel",
    "glow-up": "success-muted",
    "glow-down": "error-muted",
}
"""Colours of our names under a foreign theme, such as Textual's own."""

"""A QR code as text: two rows of modules a line, so that a camera reads it from a terminal."""

from typing import Final

from rich.text import Text

QUIET: Final = 2
"""Modules of quiet around the code; the standard asks for four, cameras accept two."""

_HALVES: Final = {
    (False, False): " ",
    (True, False): "▀",
    (False, True): "▄",
    (True, True): "█",
}


def qr_lines(text: str, *, on_dark: bool) -> tuple[str, ...]:
    """The code of a text.

    Args:
        text: the content of the code.
        on_dark: letters are lighter than their ground, so that the light modules are drawn; else
        the dark ones. A camera needs it so.

    Returns:
        Lines of equal length.
    """
    import segno  # noqa: PLC0415 - not in the first frame

    code = segno.make(text, error="l", micro=False, boost_error=False)
    rows = [[bool(module) != on_dark for module in row] for row in code.matrix_iter(border=QUIET)]
    if len(rows) % 2:
        rows.append([on_dark] * len(rows[0]))
    return tuple(
        "".join(_HALVES[pair] for pair in zip(upper, lower, strict=True))
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    )


def qr_text(text: str, *, on_dark: bool) -> Text:
    """The lines of the code as one text."""
    return Text("\n".join(qr_lines(text, on_dark=on_dark)), no_wrap=True)

"""Sentences that hold amounts, told without them.

Knows text only. Must not know what is told.
Used while amounts are masked, wherever a sentence of the desk or the service is shown.
"""

import re
from typing import Final

from service_tui.console.formats import MASK

_NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")


def told(sentence: str, *, masked: bool) -> str:
    """The sentence, its numbers hidden if `masked`."""
    return _NUMBER.sub(MASK, sentence) if masked else sentence

"""Sentences that hold amounts, told without them.

Used while amounts are masked, wherever a sentence of the desk or the service is shown.
"""

import re
from typing import Final

from service_tui.console.formats import MASK

_NUMBER: Final = re.compile(
    r"""
      (?P<kept>
        \b(?:[Pp]ress(?:es)?|[Kk]ey)\ [0-9](?![0-9.,%]*[0-9%])   # press 5, W
      | \bscreen\ \([0-9]\)                                     # the wallet screen (5)
      | \bF[0-9]{1,2}\b                                          # F9
      | \b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\b                    # 14:03:20
      )
    | [0-9][0-9,]*[0-9](?:\.[0-9]+)?
    | [0-9](?:\.[0-9]+)?
    """,
    re.VERBOSE,
)
"""A number of a sentence; in `kept`, one that is a key or a time of day."""


def told(sentence: str, *, masked: bool) -> str:
    """The sentence, its amounts hidden if `masked`: names of keys and times of day stay."""
    return _NUMBER.sub(lambda found: found["kept"] or MASK, sentence) if masked else sentence

"""The version of this program, as it is shown and sent."""

from typing import Final

VERSION: Final = "0.1.0"

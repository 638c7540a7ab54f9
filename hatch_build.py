"""The long description of the package: README.md without its pictures.

The pictures lie in the repository, and an index page or a wheel has no way to them.
Used by hatchling, for wheel and sdist alike.
"""

import re
from pathlib import Path
from typing import Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE: Final = re.compile(r"^!\[[^\]]*\]\((?!https://)[^)]*\)\n", re.MULTILINE)


class Description(MetadataHookInterface):
    """Sets the field `readme`."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set the long description."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": PICTURE.sub("", text)}

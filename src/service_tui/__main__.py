"""`python -m service_tui`, and the command `service-tui`."""

import sys
from io import TextIOWrapper


def main() -> None:
    """Run the program and end with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A folder's name may hold bytes that are no text: shown as such, never a crash.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # Imported here, so that --help and --version need nothing else.
    from service_tui.cli import run  # noqa: PLC0415

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()

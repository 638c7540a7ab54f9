"""`python -m service_tui`, and the command `service-tui`."""

import gc
import os
import signal
import sys
from io import TextIOWrapper
from typing import Final

NOT_ON_WINDOWS: Final = (
    "service-tui: Windows is not supported. Run service-tui on Linux, or in WSL.\n"
)
CANNOT: Final = 1
NO_SUCH_SYSTEM: Final = 2


def main(system: str = os.name) -> None:
    """Run the program and end with its exit code."""
    if system == "nt":
        # Before any import of ours: the first that needs POSIX would end in a traceback.
        sys.stderr.write(NOT_ON_WINDOWS)
        sys.exit(NO_SUCH_SYSTEM)
    from service_tui.console.shell.ending import SIGNALS  # noqa: PLC0415

    for number in SIGNALS:
        # A signal that is ignored already (nohup) stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    for stream in (sys.stdout, sys.stderr):
        # A folder's name may hold bytes that are no text: shown as such, never a crash.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = _run(sys.argv[1:])
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        # The terminal is gone. Python would try once more, and call that an error of its own.
        os._exit(code)
    # All of it goes with the process: to look for garbage once more would take a fifth of a second.
    gc.freeze()
    sys.exit(code)


def _run(argv: list[str]) -> int:
    """Run a command line; each import waits until it is needed."""
    if argv == ["--version"]:
        from service_tui.app.output import (  # noqa: PLC0415
            OutputError,
            print_error,
            print_lines,
        )
        from service_tui.version import VERSION  # noqa: PLC0415

        try:
            print_lines(f"service-tui {VERSION}")
        except OutputError as error:
            print_error(f"service-tui: {error}\n")
            return CANNOT
        return 0
    from service_tui.cli.main import run  # noqa: PLC0415

    return run(argv)


def _leave(number: int, _: object) -> None:
    """End at once: nothing is open yet, and nothing was changed in the terminal."""
    from service_tui.console.shell.ending import KILLED  # noqa: PLC0415  (loaded already)

    # Not by an exception, which may be swallowed by whatever is being imported.
    os._exit(KILLED + number)


if __name__ == "__main__":
    main()

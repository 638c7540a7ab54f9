"""The tests on every Python that is supported, by hand: `pipx run nox`.

Each Python has to be on the machine; one that is missing is skipped and named. The libraries are
those of the lock, and the tests those that start no program, no chain and no fuzzing.
"""

import nox

nox.options.default_venv_backend = "venv"


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Install the locked libraries and the program, and run the tests that start no program."""
    session.install("--require-hashes", "-r", "requirements-dev.lock")
    session.install("--no-deps", "--no-build-isolation", "-e", ".")
    picked = "not process and not chain and not fuzz and not deep"
    session.run("pytest", "-n", "2", "-m", picked, *session.posargs)

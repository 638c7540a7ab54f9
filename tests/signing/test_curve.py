"""Without the library in C, as on a Python without its wheel, every signature is the same."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROUNDS = 8

PROGRAM = """
import hashlib, json, sys
from service_tui.signing.errors import MalformedError
from service_tui.signing.signer import LocalSigner, recovered

def of(text):
    return hashlib.sha256(text.encode()).digest()

def tried(digest, signature):
    try:
        return recovered(digest, signature)
    except MalformedError as error:
        return str(error)

found = []
for number in range(int(sys.argv[1])):
    signer, digest = LocalSigner(of(f"key {number}")), of(f"digest {number}")
    signature = signer.sign(digest)
    # A changed first half is the point of another signer, or no point of the curve.
    changed = of(f"r {number}") + signature[32:]
    by = tried(digest, signature), tried(digest, changed)
    found.append([signer.address, signature.hex(), *by])
print(json.dumps({"found": found, "in C": sys.modules.get("coincurve") is not None}))
"""


def signed(folder: Path, *, in_c: bool) -> dict[str, Any]:
    """What a process signs; without the library in C where an import of it fails."""
    folder.mkdir()
    blocker = "" if in_c else "import sys\nsys.modules['coincurve'] = None\n"
    (folder / "sitecustomize.py").write_text(blocker)
    path = ":".join([str(folder), *(one for one in sys.path if one)])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROUNDS)],
        env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.process
def test_a_process_without_the_library_in_c_signs_and_recovers_the_same(tmp_path: Path) -> None:
    pytest.importorskip("coincurve", reason="this Python has no library in C to compare with")
    fast, plain = signed(tmp_path / "c", in_c=True), signed(tmp_path / "python", in_c=False)
    assert (fast["in C"], plain["in C"]) == (True, False)
    assert plain["found"] == fast["found"]
    assert len({signature for _, signature, *_ in plain["found"]}) == ROUNDS
    assert all(address == signer for address, _, signer, _ in plain["found"])
    assert "the signature belongs to no key" in {changed for *_, changed in plain["found"]}

"""Skills to be tried: small scripts that behave, and some that do not."""

from pathlib import Path
from textwrap import dedent

from service_tui.skills.template import SCRIPT, new_skill

BUYS = """
    def round(client, now):
        for market in client.get_markets(limit=5, sort="volume"):
            price = market.current_probability
            client.trade(market.id, "yes" if price > 0.5 else "no", 2.0, source="sdk:tried",
                         skill_slug="tried", reasoning="a test",
                         signal_data={"probability": price, "edge": 0.01})
"""

WRONG = {
    "crashes": """
        def round(client, now):
            raise ValueError("no idea")
    """,
    "leaves": """
        import os
        def round(client, now):
            os._exit(7)
    """,
    "broken": """
        def round(client, now):
            pass
        raise RuntimeError("not today")
    """,
    "floods": """
        def round(client, now):
            for _ in range(2_000):
                print("x" * 4_000)
    """,
    "forks": """
        import subprocess, sys
        def round(client, now):
            if not hasattr(round, "done"):
                sleeps = [sys.executable, "-c", "import time; time.sleep(600)"]
                round.done = subprocess.Popen(sleeps)
    """,
    "peeks": """
        from pathlib import Path
        def round(client, now):
            for parent in Path(FOLDER).rglob("*.history"):
                parent.read_bytes()
            Path(FOLDER, "histories", "two.history").read_bytes()
    """,
    "overspends": """
        def round(client, now):
            for market in client.get_markets(limit=1):
                client.trade(market.id, "yes", 900.0, allow_rebuy=True, reasoning="all of it")
    """,
    "garbles": """
        import os, socket
        def round(client, now):
            for number in range(3, 20):
                try:
                    socket.socket(fileno=number).sendall(b"\\xff" * 64)
                except OSError:
                    pass
    """,
    "waits": """
        def round(client, now):
            client.pause(5_400)
    """,
}


def skill(folder: Path, slug: str, script: str) -> Path:
    """A skill's folder with this script."""
    made = new_skill(slug, folder)
    (made / SCRIPT).write_text(dedent(script))
    return made

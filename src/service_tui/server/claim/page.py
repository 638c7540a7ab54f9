"""The claim page as text: small, without scripts, without anything from elsewhere.

Everything from outside is escaped here.
"""

import base64
import hashlib
from html import escape
from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2230;--dim:#5d6678;--page:#f4f5f8;--card:#fff;
--line:#d9dde6;--mark:#3a5bd9;--on:#fff;--bad:#b3261e;--good:#1b7f4b}
@media(prefers-color-scheme:dark){:root{--ink:#e7eaf2;--dim:#98a2b8;--page:#11141b;--card:#1a1f2a;
--line:#2d3546;--mark:#8aa4ff;--on:#11141b;--bad:#ff8a80;--good:#6fdc9f}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;
background:var(--page);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{width:100%;max-width:26rem;padding:2rem;background:var(--card);
border:1px solid var(--line);border-radius:14px}
p{margin:.6rem 0;color:var(--dim)}
h1{margin:0;font-size:1.35rem;line-height:1.3;overflow-wrap:anywhere}
.kind{margin:0 0 .35rem;font-size:.78rem;letter-spacing:.08em;text-transform:uppercase}
.bad{color:var(--bad)}
.good{color:var(--good)}
label{display:block;margin-top:1.4rem;font-weight:600}
input,button{width:100%;padding:.7rem .9rem;font:inherit;border-radius:9px}
input{margin:.4rem 0 .8rem;color:inherit;background:var(--page);border:1px solid var(--line);
font:600 1.25rem/1.4 ui-monospace,monospace;letter-spacing:.14em;text-transform:uppercase}
::placeholder{color:var(--dim);opacity:.6;font-weight:400}
button{border:0;background:var(--mark);color:var(--on);font-weight:600;cursor:pointer}
:focus-visible{outline:3px solid var(--mark);outline-offset:2px}
"""

_DIGEST: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS: Final = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_DIGEST}'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    # Not no-referrer: browsers would then send the form with an Origin of null.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What a browser may do with the page: show it, and send its form back to where it came from."""

_FORM: Final = """\
<form method="post" autocomplete="off">
<label for="code">Code from the console</label>
<input id="code" name="code" maxlength="20" required autofocus spellcheck="false"\
 autocapitalize="characters" placeholder="XXXX-XXXX">
<button>Claim this agent</button>
</form>
"""


def page(title: str, *, kind: str, text: str, mood: str = "", form: bool = False) -> bytes:
    """One whole page.

    Args:
        title: the agent's name, or what is the matter.
        kind: what the title is, in a word or two.
        text: one paragraph below it.
        mood: `good`, `bad` or nothing.
        form: whether a code is requested.

    Returns:
        The document, UTF-8.
    """
    mark = f' class="{escape(mood)}"' if mood else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<p class="kind">{escape(kind)}</p>\n<h1>{escape(title)}</h1>\n'
        f'<p role="status"{mark}>{escape(text)}</p>\n{_FORM if form else ""}'
        "</main>\n</body>\n</html>\n"
    ).encode()

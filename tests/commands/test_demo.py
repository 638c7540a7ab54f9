"""The pictures of the screens."""

from service_tui.commands.demo import _alone


def test_a_picture_fetches_nothing_from_elsewhere() -> None:
    svg = """<svg>
    <!-- Made by a library
    on the way -->
    <style>
    @font-face {
        font-family: "Fira Code";
        src: url("https://fonts.example/code.woff2");
    }
    .r1 { fill: red }
    </style>
    <text x="1">a  b</text>
</svg>"""
    alone = _alone(svg)
    assert "https:" not in alone
    assert "library" not in alone
    assert ".r1 { fill: red }" in alone
    assert '<text xml:space="preserve" x="1">a  b</text>' in alone

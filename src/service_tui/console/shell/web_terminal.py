"""A terminal in a browser; the counterpart of `terminal`, which uses a file."""

from textual.drivers import web_driver
from textual.drivers.web_driver import WebDriver

from service_tui.console.shell.terminal import HEIGHT_MAX, WIDTH_MAX, KeyParser, Losable, lenient

# The driver takes both by these names, and offers no other way to replace them.
web_driver.XTermParser = KeyParser  # pyright: ignore[reportPrivateImportUsage]
web_driver.getincrementaldecoder = lenient  # pyright: ignore[reportPrivateImportUsage]


class WebTerminal(Losable, WebDriver):
    """A driver that ends the console when its page is closed."""

    def write(self, data: str) -> None:
        """Send data to the page, as long as there is one."""
        try:
            super().write(data)
        except OSError:
            self.report_lost()

    def write_meta(self, data: dict[str, object]) -> None:
        """Send a message to the server of the page, as long as there is one."""
        try:
            super().write_meta(data)
        except OSError:
            self.report_lost()

    def run_input_thread(self) -> None:
        """Read keys until the page is closed."""
        super().run_input_thread()
        self.report_lost()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Follow the page: its size, its focus, its end."""
        if packet_type == "quit":
            self.report_lost()
        elif packet_type != "resize" or is_size(payload):
            super().on_meta(packet_type, payload)


def is_size(payload: dict[str, object]) -> bool:
    """Whether a message names the size of a window that may exist."""
    for name, most in (("width", WIDTH_MAX), ("height", HEIGHT_MAX)):
        cells = payload.get(name)
        if not isinstance(cells, int) or not 0 < cells <= most:
            return False
    return True

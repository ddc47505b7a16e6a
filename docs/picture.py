"""Makes docs/live.svg and docs/demo.svg: `analecta demo` in a real terminal, while it crawls and at its end.

Run it with `make pictures`. The command runs in a pseudo-terminal in a fresh folder; what it
prints is drawn as it stands, but for that folder's own path, which is shown as `~`.
"""

import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios
from collections.abc import Iterator
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.console import Console

HERE = Path(__file__).parent
WIDTH, HEIGHT = 110, 48
PAGES = 600
# What rich's live pictures use besides colours: up, erase the line, back to its start, show or hide the cursor.
_CONTROL = re.compile(r"(\x1b\[\d*A|\x1b\[2K|\x1b\[\?25[lh]|\r|\n)")
_KEPT = re.compile(r"Pages\s+(?:\x1b\[[\d;]*m|\s)*([\d,]+)")

# rich's own template fetches a font from the network; this one takes what the reader's machine has.
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


class Screen:
    """The lines of a terminal, as far as rich's output needs one."""

    def __init__(self) -> None:
        self.lines = [""]
        self.row = 0

    def write(self, part: str) -> None:
        """Print some text, or obey one control sequence."""
        if part == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append("")
        elif part.endswith("A") and _CONTROL.fullmatch(part):
            self.row = max(0, self.row - int(part[2:-1] or 1))
        elif part == "\x1b[2K":
            self.lines[self.row] = ""
        elif not _CONTROL.fullmatch(part):
            self.lines[self.row] += part


def output(command: list[str], folder: Path) -> Iterator[str]:
    """What a command prints on a terminal, piece by piece."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LINES": str(HEIGHT)}
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    said = b""
    while chunk := _read(terminal):
        said += chunk
        *whole, said = said.split(b"\n")  # a line at a time: no character or sequence is cut in two
        for line in whole:
            yield line.decode() + "\n"
    yield said.decode()
    os.close(terminal)
    if code := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        sys.exit(f"{' '.join(command)} ended with {code}")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other side has ended
        return b""


def session(folder: Path) -> tuple[list[str], list[str]]:
    """The screen when the crawl was nearest to its half, and at the end."""
    analecta = str(Path(sys.executable).parent / "analecta")
    screen, pictures = Screen(), dict[int, list[str]]()
    for text in output([analecta, "demo", "--pages", str(PAGES)], folder):
        for part in filter(None, _CONTROL.split(text)):
            if part == "\x1b[2K" and (kept := _KEPT.search("\n".join(screen.lines))):
                # The next picture begins, so this one was whole; while it is taken away, line by line, it is not.
                pictures.setdefault(int(kept[1].replace(",", "")), list(screen.lines))
            screen.write(part)
    return pictures[min(pictures, key=lambda pages: abs(pages - PAGES / 2))], screen.lines


def draw(lines: list[str], folder: Path, name: str) -> None:
    """Write a screen as SVG."""
    text = "\n".join(lines).replace(str(folder.resolve()), "~").strip()
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print("[bold]$ analecta demo[/]", highlight=False)
        for line in AnsiDecoder().decode(text):
            line.rstrip()
            console.print(line, overflow="fold")
        console.save_svg(str(HERE / name), title="analecta demo", code_format=_SVG, unique_id=Path(name).stem)


def main() -> None:
    """Run the demo and draw it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half, end = session(folder)
        draw(half, folder, "live.svg")
        draw(end, folder, "demo.svg")


if __name__ == "__main__":
    main()

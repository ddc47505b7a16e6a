"""The command that checks a library for damage, and repairs it."""

from collections.abc import Callable
from typing import Annotated

import typer
from rich.status import Status

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import SlowLines, busy, console, print_json, print_next, stoppable
from analecta.store.verify import VerifyReport
from analecta.text.display import plain
from analecta.verify import check_library

_MB = 1e6


@app.command()
def verify(
    lib: Lib,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired; nothing is deleted.")] = False,
    json: Json = False,
) -> None:
    """Check every file of a library for damage; an interrupted check continues where it stopped."""
    with stoppable(lambda: "Run the command again to continue the check."), busy("Checking") as status:
        report = check_library(lib, repair, _progress(status))
    if json:
        print_json({"library": str(lib), "clean": report.clean, "report": report})
    else:
        _show(report, repair)
    if report.kinds and not json and not repair:
        print_next(lib, "verify LIB --repair")
    raise typer.Exit(0 if report.clean else 1)


def _progress(status: Status) -> Callable[[str, int, int], None]:
    """Shows how far the check is: on a terminal all the time, elsewhere now and then."""
    screen = console(stderr=True)
    show: Callable[[str], None] = status.update if screen.is_terminal else SlowLines(screen)
    return lambda name, done, all: show(f"Checking {name}: {done / _MB:,.0f} of {all / _MB:,.0f} MB")


def _show(report: VerifyReport, repaired: bool) -> None:
    screen = console()
    for words in report.repaired:
        screen.print(f"Repaired: {plain(words)}", soft_wrap=True)
    for name, kind in report.kinds.items():
        screen.print(f"{name}: {kind.count:,}", style="red", soft_wrap=True)
        for words in kind.examples:
            screen.print(f"  {plain(words)}", soft_wrap=True)
        if kind.count > len(kind.examples):
            screen.print(f"  and {kind.count - len(kind.examples):,} more")
        what = "cannot be repaired" if repaired or not kind.repair else f"--repair: {kind.repair}"
        screen.print(f"  ({what})", soft_wrap=True)
    for words in report.notes:
        screen.print(f"Note: {plain(words)}", soft_wrap=True)
    looked = ", ".join(f"{count:,} {what}" for what, count in report.checked.items())
    screen.print(f"{'No damage found' if report.clean else 'Damage found'}. Checked: {looked}.", soft_wrap=True)

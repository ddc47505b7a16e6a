"""The gates of quality: recall of recipes, F1 of judges, communities have floors that nobody lowers unnoticed.

python gates/check.py                   # as `make gate`
python gates/check.py --only pocket     # the short form, which needs no data
python gates/check.py --name adaptive   # one recipe, judge or figure of each gate
python gates/check.py --pin             # write what was measured, less the margin, as the new floors
"""

import argparse
import hashlib
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from analecta.testweb.webs import open_web  # noqa: E402
from gates.quality import communities, f1s, recalls  # noqa: E402

FILES = {kind: HERE / f"{kind}.toml" for kind in ("recall", "judges", "communities")}
DATA = Path(os.environ.get("ANALECTA_DATA", HERE.parent.parent / "shared" / "data"))


class Missing(Exception):
    """The data of a gate are not on this machine."""


def sources(gate: Mapping[str, Any], data: Path = DATA) -> tuple[str, str, str]:
    """Where the web and the labels of a gate are, and the digest of both."""
    if gate["web"].startswith(("pocket", "villages")):
        return gate["web"], "", ""
    paths = [data / gate[name] for name in ("web", "labels") if name in gate]
    for path in paths:
        if not path.exists():
            raise Missing(str(path))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
    return str(paths[0]), str(paths[-1]), digest


def measure(kind: str, gate: Mapping[str, Any], data: Path = DATA, jobs: int = 0) -> tuple[dict[str, float], str]:
    """What a gate's recipes or judges reach, and the digest of what it was measured on."""
    web, labels, digest = sources(gate, data)
    if kind == "recall":
        return recalls(gate, web, labels, jobs), digest
    if kind == "communities":
        return communities(gate, web), digest
    return f1s(gate, open_web(web), labels), digest


def failures(gate: Mapping[str, Any], found: Mapping[str, float], digest: str) -> list[str]:
    """What is below its floor, or was pinned on other data."""
    if gate["sha256"] != digest:
        return [f"the web or its labels are others than those the floors were pinned on ({digest[:16]}): pin anew"]
    low = [(name, found.get(name, 0.0), floor) for name, floor in gate["floors"].items()]
    return [
        f"{name} reaches {value:.3f}, below its floor of {floor:.3f}" for name, value, floor in low if value < floor
    ]


def pin(path: Path, name: str, found: Mapping[str, float], digest: str) -> None:
    """Write the floors, and leave everything else in the file as it stands."""
    document = tomlkit.parse(path.read_text())
    gate: Any = document[name]
    gate["sha256"] = digest
    for key, value in found.items():
        gate["floors"][key] = round(value - gate["margin"], 3)
    path.write_text(tomlkit.dumps(document))


def main() -> int:
    """Check or pin all gates; 1 where one is not held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pin", action="store_true", help="write the floors instead of checking them")
    parser.add_argument("--only", metavar="NAME", help="one gate: pocket, wikischools, ...")
    parser.add_argument("--kind", choices=FILES, help="of what; otherwise of all")
    parser.add_argument("--name", help="one recipe, judge or figure; otherwise all of a gate")
    parser.add_argument("--data", type=Path, default=DATA, help="where the webs are")
    asked = parser.parse_args()
    held = True
    for kind, path in FILES.items():
        for name, gate in tomllib.loads(path.read_text()).items():
            if (asked.kind or kind) != kind or (asked.only or name) != name:
                continue
            if asked.name:
                gate["floors"] = {key: floor for key, floor in gate["floors"].items() if key == asked.name}
            if not gate["floors"]:
                continue
            try:
                found, digest = measure(kind, gate, asked.data)
            except Missing as missing:
                print(f"SKIPPED: the gate {kind}/{name} needs {missing}, which is not here", file=sys.stderr)
                continue
            held = _tell(kind, name, gate, found, digest, path if asked.pin else None) and held
    return 0 if held else 1


def _tell(
    kind: str, name: str, gate: Mapping[str, Any], found: Mapping[str, float], digest: str, path: Path | None
) -> bool:
    figure = gate.get("figure", "F1")
    for key, value in found.items():
        print(f"{kind}/{name}  {key:20} {figure} {value:.3f}  floor {gate['floors'][key]:.3f}")
    if path:
        pin(path, name, found, digest)
        return True
    wrong = failures(gate, found, digest)
    for line in wrong:
        print(f"FAILED: {kind}/{name}: {line}", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    sys.exit(main())

"""F43 in short: the frontier of many URLs. Ten million of them are `benchmarks/memory.py` (`make bench`)."""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "memory.py"


def test_f43_the_frontier_of_many_urls_is_small(tmp_path):
    out = tmp_path / "memory.json"
    command = [sys.executable, str(BENCHMARK), "--urls", "100000", "--hosts", "1000", "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    figures = json.loads(out.read_text())
    assert figures["frontier_mb"] < 160  # a third of it was seen; most does not grow with the number of URLs
    assert figures["resumed_urls"] == figures["urls"] == 100_000

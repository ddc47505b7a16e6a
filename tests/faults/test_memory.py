"""F43 in short: the frontier of many URLs. Ten million of them are `benchmarks/memory.py` (`make bench`)."""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "memory.py"


def test_f43_the_frontier_of_many_urls_is_small_and_quick(tmp_path):
    out = tmp_path / "memory.json"
    command = [sys.executable, str(BENCHMARK), "--urls", "200000", "--hosts", "2000", "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    figures = json.loads(out.read_text())
    assert figures["frontier_mb"] < 120  # most of it does not grow with the number of URLs
    assert figures["seen_p50_ms"] < 1  # the p99 of a short run on a busy machine is that of its scheduler
    assert figures["resumed_urls"] == figures["urls"] == 200_000

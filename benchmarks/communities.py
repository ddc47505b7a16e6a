"""How well, and how fast, are communities found? Made-up webs of 11,000 sites, and with `--gml FILE` a real graph.

The rules of `communities/claims` and `communities/merging` were set on web 1; web 2 and 3 are others of the same
kind, and the quiet web has no links between communities.
"""

import argparse
from pathlib import Path
from typing import Any

from measure import keep, machine, show

from analecta.evaluate.communities import CommunityQuality, LabelledSites, Trial, draw, read_gml, trial
from analecta.testweb.community_web import CommunityWeb

OUT = Path(__file__).parent / "out" / "communities.json"
WEBS = {"1": (1, 1.0), "2": (2, 1.0), "3": (3, 1.0), "quiet": (1, 0.0)}
COLUMNS = {
    "Web": "web", "Seeds": "seeds", "P tree": "tree_p:.3f", "R tree": "tree_r:.3f", "P": "p:.3f", "R": "r:.3f",
    "f": "f:.3f", "worst f": "worst_f:.3f", "tree's f": "tree_f:.3f", "purity": "purity:.3f", "s": "seconds:.3f",
    "tree s": "tree_s:.4f", "a site": "ratio_a_site:.0f",
}  # fmt: skip


def row(web: str, seeds: int, trials: list[Trial]) -> dict[str, Any]:
    """The means of some draws; `ratio` is the tree's time by ours, `ratio_a_site` that of one more site."""

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    def means(of: list[CommunityQuality]) -> list[float]:
        return [mean([q.precision for q in of]), mean([q.recall for q in of]), mean([q.f for q in of])]

    tree, truth = (means([getattr(one, name) for one in trials]) for name in ("against_mst", "against_truth"))
    ours, theirs = mean([one.seconds for one in trials]), mean([one.mst_seconds for one in trials])
    crawled = mean([one.crawled for one in trials])
    return {
        "web": web, "seeds": seeds, "draws": len(trials), "crawled": crawled,
        "clusters": mean([one.clusters for one in trials]), "tree_p": tree[0], "tree_r": tree[1],
        "p": truth[0], "r": truth[1], "f": truth[2], "worst_f": min(one.against_truth.f for one in trials),
        "tree_f": mean([one.mst_against_truth.f for one in trials]), "purity": mean([one.purity for one in trials]),
        "seconds": ours, "tree_s": theirs, "ratio": theirs / ours, "ratio_a_site": theirs / (ours / crawled),
    }  # fmt: skip


def measured(graph: LabelledSites, web: str, seeds: int, draws: int) -> dict[str, Any]:
    trials = [trial(graph, draw(graph, seeds, n), 0.01, "outLink", with_kmeans=False) for n in range(1, draws + 1)]
    return row(web, seeds, trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,100 sites, up to 100 seeds")
    parser.add_argument("--webs", nargs="+", default=list(WEBS), choices=list(WEBS))
    parser.add_argument("--gml", type=Path, help="a graph with two communities, such as the political blogs")
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    sites, most = (1100, 100) if given.quick else (11_000, 1000)
    rows = []
    for name in given.webs:
        seed, stray = WEBS[name]
        villages = CommunityWeb(sites, sites // 55, seed, stray)
        graph = LabelledSites(name, villages.graph, villages.truth)
        rows += [measured(graph, name, n, d) for n, d in ((1, 10), (10, 5), (100, 2), (1000, 1)) if n <= most]
    if given.gml:
        rows.append(measured(read_gml(given.gml), given.gml.stem, 20, 10))
    show("Communities", rows, COLUMNS)
    keep(given.o, {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()

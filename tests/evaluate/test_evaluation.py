import msgspec
import pytest

from analecta.cli.evaluate import show
from analecta.errors import UsageError
from analecta.evaluate.crawls import setting
from analecta.evaluate.evaluation import ORACLE, evaluate
from analecta.evaluate.questions import EvaluationPlan, budget
from analecta.evaluate.report import page, write
from analecta.evaluate.summary import comparisons, mean
from analecta.testweb.server import wire
from tests.testweb.test_replay import record, warc

ISSUE = set("recipe topic draw R recall_R recall_2R recall_4R area harvest harvest_cap5 relevant_hosts pages".split())
TOPICS = ["astronomy", "chess"]


def plan(**more):
    asked = {"web": "pocket:400", "recipes": ["breadth-first"], "topics": TOPICS, "seeds": 4, "draws": 1}
    return EvaluationPlan(**(asked | {"min_pages": 5, "jobs": 1} | more))


@pytest.fixture(scope="module")
def found():
    return evaluate(plan(recipes=["breadth-first", "adaptive"]))


def test_there_is_one_run_for_each_crawl_with_the_figures_of_the_contract(found):
    data = msgspec.to_builtins(found)
    assert [(run["recipe"], run["topic"]) for run in data["runs"]] == [
        (recipe, topic) for recipe in ("breadth-first", "adaptive") for topic in TOPICS
    ]
    assert all(set(run) >= ISSUE | {"cpu_ms_per_page"} for run in data["runs"])


def test_recall_grows_and_the_oracle_bounds_it(found):
    best = {run.topic: run for run in found.bounds if run.recipe == ORACLE}
    for run in found.runs:
        assert 0 < run.recall_r <= run.recall_2r <= run.recall_4r <= 1
        assert run.area <= best[run.topic].area + 1e-9


def test_the_engine_s_breadth_first_is_the_simulated_one(found):
    ours = {run.topic: run.recall_curve for run in found.runs if run.recipe == "breadth-first"}
    simulated = {run.topic: run.recall_curve for run in found.bounds if run.recipe != ORACLE}
    for topic in TOPICS:
        assert ours[topic] == pytest.approx(simulated[topic], abs=0.15)


def test_a_crawl_fetches_its_budget_and_costs_something(found):
    assert all(run.pages == run.budget == 4 * run.size for run in found.runs)
    assert all(run.cpu_ms_per_page > 0 for run in found.runs)


def test_the_same_plan_gives_the_same_figures(found):
    again = evaluate(plan(recipes=["adaptive"], topics=TOPICS[:1]))
    before = next(run for run in found.runs if (run.recipe, run.topic) == ("adaptive", TOPICS[0]))
    fields = ("size", "recall_curve", "precision_curve", "positive", "stored", "depth")
    assert [getattr(again.runs[0], f) for f in fields] == [getattr(before, f) for f in fields]


def test_processes_give_the_same_as_one(found):
    again = evaluate(plan(topics=TOPICS[:1], jobs=2))
    assert again.runs[0].recall_curve == found.runs[0].recall_curve


def test_a_small_budget_leaves_the_rest_unknown():
    run = evaluate(plan(topics=TOPICS[:1], budget="1.5R")).runs[0]
    assert run.recall_r is not None
    assert (run.recall_2r, run.recall_4r) == (None, None)


def test_s7_all_topics_can_be_crawled_together():
    found = evaluate(plan(together=True))
    (run,) = found.runs
    assert set(run.topics) == set(TOPICS)
    assert run.size == sum(part.size for part in run.topics.values())
    assert found.alone[0].topic in TOPICS
    assert "ms CPU a page with 2 topics" in page(found)


def test_p11_a_web_without_labels_is_judged_by_a_better_taught_classifier(web, tmp_path):
    known = [url for url, topics in web.subjects().items() if topics == ("astronomy",)]
    (tmp_path / "urls").write_text("\n".join(known[:15]))
    found = evaluate(plan(topics=[], examples={"stars": str(tmp_path / "urls")}))
    (run,) = found.runs
    truly = {page for page, topics in web.subjects().items() if topics == ("astronomy",)}
    assert 0.6 * len(truly) < run.size < 1.6 * len(truly)
    assert 0.1 < run.harvest < 0.5


def test_p11_each_recipe_is_tested_against_breadth_first(found):
    (one,) = [one for one in comparisons(found) if one.figure == "recall_2r"]
    means = [mean(found, recipe, "recall_2r").mean for recipe in ("adaptive", "breadth-first")]
    assert one.better_by == pytest.approx(means[0] - means[1])
    assert one.pairs == 2


def test_everything_is_written(found, tmp_path):
    write(found, tmp_path)
    show(found, tmp_path)
    assert msgspec.json.decode((tmp_path / "evaluation.json").read_bytes())["runs"][0]["recall_2R"] > 0
    text = (tmp_path / "evaluation.md").read_text()
    assert all(f"({name}.svg)" in text for name in ("recall", "harvest", "precision"))
    assert all((tmp_path / name).exists() for name in ("recall.svg", "harvest.svg", "precision.svg"))


def test_an_archive_is_crawled_with_labels_from_a_file(tmp_path, web):
    subjects = web.subjects()
    blocks = {one.url: web.pocket.answer(*split(one.url), {}) for one in web.pocket.pages(links=False)}
    records = [record(url, wire(answer)) for url, answer in blocks.items()]
    warc(tmp_path / "a.warc.gz", *records)
    (tmp_path / "labels").write_text("\n".join(f"{url}\tall.{topics[0]}" for url, topics in subjects.items()))
    asked = {"web": str(tmp_path / "a.warc.gz"), "labels": str(tmp_path / "labels"), "topics": ["all.chess"]}
    (run,) = evaluate(plan(**asked)).runs
    assert 0.5 < run.recall_2r <= 1


def split(url):
    host, _, path = url.partition("://")[2].partition("/")
    return host, "/" + path


def test_a_settings_file_is_a_recipe_too(tmp_path):
    (tmp_path / "mine.toml").write_text('recipe = "breadth-first"\n[scope]\ndepth = 1\n')
    (run,) = evaluate(plan(recipes=[str(tmp_path / "mine.toml")], topics=TOPICS[:1])).runs
    assert (run.recipe, run.depth) == ("mine", 1)


def test_settings_can_be_given_to_all_crawls():
    assert setting("policy.decay=0.3") == {"policy": {"decay": 0.3}}
    assert setting("judge.kind=none") == {"judge": {"kind": "none"}}


@pytest.mark.parametrize(("text", "pages"), [("4R", 40), ("2.5R", 25), ("300", 300)])
def test_a_budget_is_a_number_or_a_multiple_of_r(text, pages):
    assert budget(text, 10) == pages


@pytest.mark.parametrize("text", ["", "R4", "-1", "0", "4 pages"])
def test_a_budget_of_nonsense_is_bad_use(text):
    with pytest.raises(UsageError):
        budget(text, 10)


BAD = [
    {"recipes": ["no-such"]},
    {"recipes": []},
    {"recipes": ["no-such.toml"]},
    {"settings": {"policy": {"dekay": 1}}},
    {"budget": "much"},
    {"topics": ["knitting"]},
    {"min_pages": 10_000},
    {"labels": "no-such-file.tsv"},
    {"examples": {"stars": "no-such-file"}},
    {"examples": {"stars": "x"}, "together": True},
]


@pytest.mark.parametrize("wrong", BAD, ids=lambda wrong: "-".join(wrong))
def test_bad_use_is_told(wrong):
    with pytest.raises(UsageError):
        evaluate(plan(**wrong))

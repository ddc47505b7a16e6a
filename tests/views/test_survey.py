"""Analyses of a library crawled from the pocket web, and of small ones made by hand."""

from shutil import copytree

import numpy as np
import pytest
from sklearn.metrics.cluster import contingency_matrix

from analecta.errors import UsageError
from analecta.model import FoundBy, UrlState
from analecta.store.library import LibraryFolder
from analecta.store.schema import pack_text
from analecta.views.clusters import analysis_path, load, save, survey
from tests.making import candidate, page_row, shard_at, target

WORDS = {"bird": "wren nest feather beak song owl".split(), "bee": "hive honey comb queen drone wax".split()}


def made(folder, pages, topics=("nature", "other")):
    """A library of these pages: URL, text, and values of their rows; `to` are the URLs they link to."""
    library = LibraryFolder.create(folder, 'recipe = "adaptive"\n')
    library.topic_names(topics)
    library.put("partitions", 1)
    with shard_at(library.shard_path(0)) as shard:
        for n, (url, text, more) in enumerate(pages, 1):
            one, more = target(url), dict(more)
            found = FoundBy.SEED if more.pop("seed", False) else FoundBy.LINK
            links = np.array([target(to).id for to in more.pop("to", ())], np.int64).tobytes()
            known = {"title": f"Page {n}", "confidence": 0.9, "text": pack_text(text), "links": links}
            shard.add([(n, candidate(one.url, found_by=found), UrlState.QUEUED, False, "")])
            shard.add_page(page_row(one.id, **(known | more)), UrlState.DONE, 0, 0)
        shard.commit()
    return library


def wild(count=40, host="h{i}.test", **more):
    """As many pages of birds as of bees, each of several of their words; page 0 and 1 are linked from all of theirs."""
    for i in range(count):
        kind = ("bird", "bee")[i % 2]
        own = [WORDS[kind][(i + j * (1 + i % 3)) % 6] for j in range(4)]
        text = " ".join(f"The {word} {i + j} is here, near {own[j - 1]}." for j, word in enumerate(own))
        to = [f"http://{host.format(i=i % 2)}/{i % 2}", f"http://{host.format(i=2 + i % 2)}/{2 + i % 2}"]
        yield f"http://{host.format(i=i)}/{i}", text, {"to": to, **more}


@pytest.fixture(scope="module")
def found(grown):
    return survey(grown, now=lambda: 5.0)


def test_b19_the_topics_of_a_crawl_are_found_again(grown, found):
    with grown.shards() as shards:
        topics = {id: topic for shard in shards for id, topic in shard.execute("SELECT id, topic FROM pages")}
    pairs = [(n, topics[page.id]) for n, cluster in enumerate(found.clusters) for page in cluster.members]
    table = contingency_matrix(*zip(*pairs, strict=True))
    assert table.max(axis=1).sum() / table.sum() > 0.95  # are of the commonest topic of their cluster
    assert found.chosen == "auto"
    assert found.impurity[2] < 0.1


def test_p7_the_worst_quarter_is_left_out(grown, found):
    kept = [page.confidence for cluster in found.clusters for page in cluster.members]
    assert found.dropped == found.pages // 4
    assert len(kept) == sum(cluster.size for cluster in found.clusters) == found.pages - found.dropped


def test_p7_the_same_seed_gives_the_same_and_a_number_given_is_kept_to(grown, found):
    assert survey(grown, now=lambda: 5.0) == found
    assert len(survey(grown, clusters=5).clusters) == 5


def test_p8_examples_are_nearest_and_hubs_and_authorities_are_those_of_the_cluster(found):
    authorities = [{page.id for page in cluster.authorities} for cluster in found.clusters]
    assert not set.intersection(*authorities)
    for cluster in found.clusters:
        assert [page.near for page in cluster.members] == sorted((p.near for p in cluster.members), reverse=True)
        assert cluster.examples[0].id == cluster.members[0].id


def test_p9_labels_differ_and_have_at_most_five_terms(found):
    assert len({cluster.label for cluster in found.clusters}) == len(found.clusters)
    assert all(1 <= len(cluster.terms) <= 5 for cluster in found.clusters)


def test_p8_on_a_single_site_links_within_it_count(tmp_path):
    found = survey(made(tmp_path / "lib", wild(host="one.test")), clusters=2)
    best = {cluster.authorities[0].url for cluster in found.clusters}
    assert best <= {f"http://one.test/{i}" for i in range(4)}
    assert len(best) == 2


def test_p8_links_between_clusters_are_counted(tmp_path):
    found = survey(made(tmp_path / "lib", wild()), clusters=2)
    assert found.links[0][1] == found.links[1][0] == 0
    assert found.links[0][0] > 10
    assert found.similar[0][0] == pytest.approx(1.0, abs=1e-3)


def test_p10_origins_are_the_pages_a_person_brought_or_the_papers(tmp_path):
    library = made(tmp_path / "lib", [*wild(), ("http://seed.test/", "wren nest", {"seed": True, "title": "Seed"})])
    assert [(one.title, one.url) for one in survey(library, clusters=2).origins] == [("Seed", "http://seed.test/")]
    (library.folder / "topics").mkdir()
    (library.folder / "topics" / "paper-1.toml").write_text('title = "On wrens"\n')
    assert [one.title for one in survey(library, clusters=2).origins] == ["On wrens"]


def test_p7_pages_nearly_the_same_under_one_title_count_once(tmp_path):
    twins = [(f"http://t{i}.test/", "wren nest song", {"title": "Wrens!", "simhash": 0b1011 << i}) for i in range(3)]
    other = ("http://other.test/", "wren nest song", {"title": "Wrens!", "simhash": 0xFFFFFFFFFF})
    assert survey(made(tmp_path / "lib", [*wild(), *twins, other]), clusters=2).pages == 42


def test_f35_pages_that_must_not_be_shown_are_not_analysed(tmp_path):
    hidden = ("http://hidden.test/", "wren nest", {"flags": 1})
    assert survey(made(tmp_path / "lib", [*wild(), hidden]), clusters=2).pages == 40


def test_f37_hostile_titles_and_texts_are_kept_as_text(tmp_path):
    bad = "<script>alert(1)</script>\u202e\x00"
    library = made(tmp_path / "lib", wild(title=bad))
    found = survey(library, clusters=2)
    save(library, found)
    assert load(library, "") == found
    assert not any(set("<>\u202e\x00") & set(cluster.label) for cluster in found.clusters)


def test_b19_an_unknown_topic_or_too_few_pages_are_told(tmp_path):
    library = made(tmp_path / "lib", wild(10))
    with pytest.raises(UsageError, match="no topic 'birds'; valid are: nature, other"):
        survey(library, "birds")
    with pytest.raises(UsageError, match="10 pages about nature, too few"):
        survey(library, "nature")


def test_b1_a_topic_is_analysed_with_those_below_it(tmp_path):
    pages = [*wild(20), *((f"{url}x", text, {**more, "topic": 1}) for url, text, more in wild(20))]
    library = made(tmp_path / "lib", pages, ("nature", "nature / more"))
    assert survey(library, "nature", 2).pages == 40
    assert survey(library, "nature / more", 2).pages == 20


def test_f29_pages_without_words_are_told(tmp_path):
    pages = [(f"http://h{i}.test/", "", {"title": ""}) for i in range(30)]
    with pytest.raises(UsageError, match="no words in common"):
        survey(made(tmp_path / "lib", pages))


def test_p10_an_analysis_is_kept_and_read_back(grown, found, tmp_path):
    library = LibraryFolder(copytree(grown.folder, tmp_path / "copy"))
    assert save(library, found).name == "all.json"
    assert load(library, "") == found


def test_p10_topics_whose_names_are_alike_have_analyses_of_their_own(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", "")
    paths = [analysis_path(library, topic) for topic in ("", "all", "a-b", "A / B", "a / b", "x" * 300, "x" * 301, "é")]
    assert len(set(paths)) == len(paths)
    assert [path.stem for path in (paths[0], paths[2], paths[-1])] == ["all", "a-b", "é"]

import xml.etree.ElementTree as ET
from shutil import copytree

import pytest

from analecta.publish.pages import as_html, as_svg, download_order, in_one_row, pictures
from analecta.store.library import HistoryPoint, LibraryFolder
from analecta.views.collections import collections

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def copy(grown, tmp_path):
    return LibraryFolder(copytree(grown.folder, tmp_path / "lib"))


def moment(run, pages, topic=0):
    return HistoryPoint(run, 0.0, pages, topic, 5, 0.25, 0.5, 0.75)


def test_s12_runs_are_counted_on():
    row = in_one_row([moment(1, 10), moment(1, 30), moment(2, 5), moment(4, 7)])
    assert [one.pages for one in row] == [10, 30, 35, 42]


def test_s17_the_order_of_download_is_that_of_all_partitions(grown):
    topics, sure = download_order(grown)
    with grown.shards() as shards:
        rows = [row for db in shards for row in db.execute("SELECT kept_at, topic, confidence FROM pages ORDER BY seq")]
    rows.sort(key=lambda row: row[0])  # two may have come at the same moment
    assert topics.tolist() == [topic for _, topic, _ in rows]
    assert sure.tolist() == [confidence or 0.0 for _, _, confidence in rows]


def test_s12_s17_every_collection_has_its_charts_and_their_figures(grown):
    found = collections(grown)
    judged = {ranked.item.id: True for ranked in found[0].items}
    drawn = pictures(grown, found, judged)
    kinds = [picture.title.partition(": ")[2] for picture in drawn]
    assert kinds == ["", *["how sure the judge is of the best items", "its pages in the order of download"] * 2]
    count = len(found[0].items)
    assert drawn[0].rows == [(found[0].topic, count, count, 1.0)]
    assert f'<th scope="row">{found[0].topic}</th>' in as_html(drawn, "lib")
    last = [one for one in grown.history() if one.topic == 0][-1]
    assert drawn[1].rows[-1][1:] == (last.least, last.mean, last.most)


def test_s12_all_charts_stand_below_one_another_in_one_svg(grown):
    drawn = pictures(grown, collections(grown))
    inner = ET.fromstring(as_svg(drawn)).findall(f"{SVG}svg")
    places = [float(one.get("y")) for one in inner]
    assert len(places) == len(drawn) == 4
    assert places == sorted(set(places))


def test_f37_hostile_names_stay_text(copy):
    hostile = "<script>alert(1)</script>\x00\u202e\"'"
    with copy.database() as db:
        db.execute("UPDATE topics SET name = ? WHERE n = 0", (hostile,))
    drawn = pictures(copy, collections(copy))
    page = as_html(drawn, "<b>lib")
    assert [bad for bad in ("<script", "<b>", "\x00", "\u202e") if bad in page] == []
    ET.fromstring(as_svg(drawn))


def test_s12_before_the_first_crawl_there_is_nothing_to_draw(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", "")
    library.topic_names(("one",))
    drawn = pictures(library, collections(library), {})
    assert drawn == []
    assert "nothing to draw yet" in as_html(drawn, "lib")
    ET.fromstring(as_svg(drawn))

import pytest

from analecta.errors import UsageError
from analecta.sources.lists import front_page, read_sites


def sites(path, text):
    path.write_text(text)
    return read_sites(path, "rivers")


def test_c1_hosts_and_front_pages_are_the_seeds(tmp_path):
    reading = sites(tmp_path / "s", "# sites\na.test\nhttp://b.test/ # good\n1,c.test\n2\td.test\n*.e.test\n")
    hosts = ("https://a.test/", "http://b.test/", "https://c.test/", "https://d.test/", "https://e.test/")
    assert reading.topics[0].seeds == hosts
    assert reading.topics[0].name == "rivers"


def test_c1_a_site_that_is_named_by_several_pages_is_one(tmp_path):
    reading = sites(tmp_path / "s", "a.test/x/page.html?q=1\nhttps://a.test/index.php\na.test\n")
    assert reading.topics[0].seeds == ("https://a.test/",)
    assert reading.repeated == 2


@pytest.mark.parametrize(
    ("url", "front"),
    [
        ("https://a.test/~ann/", "https://a.test/~ann/"),
        ("https://a.test/~ann/index.html", "https://a.test/~ann/"),
        ("https://a.test/~ann/cv.html", "https://a.test/"),
        ("https://a.test:8443/?q=1/", "https://a.test:8443/"),
        ("https://[::/", "https://[::/"),
    ],
)
def test_c1_a_folder_is_a_site_of_its_own(url, front):
    assert front_page(url) == front


def test_lines_that_are_no_site_are_reported(tmp_path):
    reading = sites(tmp_path / "s", "a.test\nftp://b.test\nrivers\n")
    assert [skipped.line for skipped in reading.skipped] == [2, 3]
    with pytest.raises(UsageError, match="line 1: no usable site"):
        sites(tmp_path / "s", "rivers\n")

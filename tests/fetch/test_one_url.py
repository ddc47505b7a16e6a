import pytest

from analecta.errors import ResourceError, UsageError
from analecta.fetch.client import fetch_one
from analecta.settings.schema import FetchSettings
from tests.hostile import HostileServer, answer, silence

FEED = b"<rss><channel><title>Bees</title><item><link>/1</link></item></channel></rss>"
QUICK = {"connect_timeout": 2.0, "first_byte_timeout": 1.0, "deadline": 3.0}


def fetch(server):
    """All that is not on loopback goes to this server."""
    return FetchSettings(connect_to=server.address, **QUICK)


def test_an_address_is_asked_for_and_redirects_are_followed():
    pages = {"/feed": answer(FEED), "/old": answer(b"", "301 Moved", location="/feed")}
    with HostileServer(pages) as server:
        found = fetch_one("https://a.test/old", fetch=fetch(server))
        local = fetch_one(f"http://{server.address}/feed")
    assert (found.url, found.body) == ("https://a.test/feed", FEED)
    assert local.body == FEED


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (answer(b"no", "404 Not Found"), "answered with HTTP 404"),
        (answer(b"", "302 Found", location="/feed"), "leads nowhere"),
        (answer(b"", "302 Found"), "leads nowhere"),
        (answer(b"", "302 Found", location="ftp://a.test/"), "leads nowhere"),
        (silence(), "does not answer: timeout"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(behaviour, said):
    with HostileServer({"/feed": behaviour}) as server, pytest.raises(ResourceError, match=said):
        fetch_one("https://a.test/feed", fetch=fetch(server))


def test_who_asks_the_open_internet_says_who_they_are():
    with pytest.raises(UsageError, match=r"set contact in analecta.toml; `analecta new` takes --contact"):
        fetch_one("https://a.test/feed")
    with pytest.raises(UsageError, match="no valid address"):
        fetch_one("https://:80/")


def test_f16_nobody_is_led_to_this_machine_or_away_from_it_unasked():
    away = answer(b"", "302 Found", location="https://a.test/")
    with HostileServer({"/feed": away}) as server, pytest.raises(UsageError, match="--contact"):
        fetch_one(f"http://{server.address}/feed")
    with pytest.raises(ResourceError, match="guard"):
        fetch_one("http://10.0.0.1/feed", "me@a.test", FetchSettings(**QUICK))

import pytest

from analecta.errors import UsageError
from analecta.sources.engines.client import choose
from analecta.urls import on_this_machine

KEY = {"BRAVE_API_KEY": " k1 "}


def test_engines_are_chosen_by_name_with_their_keys() -> None:
    brave, marginalia = choose(["brave", "marginalia", "brave"], {}, KEY)
    assert (brave.name, brave.key, brave.pause) == ("brave", "k1", 1.0)
    assert (marginalia.key, marginalia.url) == ("public", "https://api2.marginalia-search.com/search")


def test_an_engine_on_this_machine_needs_no_pause_unless_one_is_set() -> None:
    here = {"searxng": "http://127.0.0.1:8080/search"}
    assert [choose(["searxng"], here, {}, pause)[0].pause for pause in (None, 0.5)] == [0.0, 0.5]


@pytest.mark.parametrize(
    ("names", "urls", "environ", "said"),
    [
        ([], {}, {}, "no search engine is chosen.*searxng, brave"),
        (["brav"], {}, KEY, "no search engine 'brav'; did you mean 'brave'"),
        (["libary"], {}, {}, "did you mean 'library'"),
        (["brave"], {"gogle": "https://x.test/"}, KEY, "no search engine 'gogle'; known are: searxng"),
        (["brave"], {}, {}, "wants a key: put it into the environment variable BRAVE_API_KEY"),
        (["brave"], {}, {"BRAVE_API_KEY": "a\r\nHost: b"}, "BRAVE_API_KEY holds is no key"),
        (["searxng"], {}, {}, r"set searxng = URL of the one to ask in \[search.url\]"),
        (["opensearch"], {}, {}, "URL of its OpenSearch description"),
        (["searxng"], {"searxng": "file:///etc/passwd"}, {}, "is no http or https URL"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_asked(names, urls, environ, said) -> None:
    with pytest.raises(UsageError, match=said):
        choose(names, urls, environ)


def test_a_key_is_never_part_of_what_is_said() -> None:
    with pytest.raises(UsageError) as error:
        choose(["brave"], {}, {"BRAVE_API_KEY": "se cret"})
    assert "cret" not in str(error.value).replace("BRAVE", "")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://127.9.9.9:80/x", "http://[::1]:8080/", "http://LOCALHOST/"]
)
def test_loopback_is_known_by_its_name(url: str) -> None:
    assert on_this_machine(url)
    assert on_this_machine(url + "?q={searchTerms}")


@pytest.mark.parametrize(
    "url", ["http://localhost.example.org/", "http://10.0.0.1/", "http://127.0.0.1.nip.test/", "x"]
)
def test_all_else_is_elsewhere(url: str) -> None:
    assert not on_this_machine(url)

"""Which hosts mirror others, by pages on the same paths."""

import random

from analecta.frontier.mirrors import Mirrors, sighting
from analecta.frontier.traps import Traps

OLD, NEW = "old.test", "new.test"


def page(host, number, print=None):
    value = random.Random(number).getrandbits(62) if print is None else print
    return sighting(f"http://{host}/p/{number}", host, value)


def test_f70_a_host_with_the_pages_of_another_mirrors_it_though_each_was_first_with_half_of_them():
    mirrors = Mirrors()
    mirrors.see(page(OLD, 0))
    for number in range(1, 5):
        first, second = (OLD, NEW) if number % 2 else (NEW, OLD)
        assert not mirrors.see(page(first, number))
        assert not mirrors.see(page(second, number))
    mirrors.see(page(NEW, 5))
    assert mirrors.see(page(OLD, 5))
    assert mirrors.found == {NEW: OLD}


def test_f70_a_page_with_some_other_words_is_the_same_and_one_with_another_title_is_not():
    for changed, same in ((0b1011, True), (1 << 50, False), ((1 << 20) - 1, False)):
        mirrors = Mirrors()
        for number in range(5):
            mirrors.see(page(OLD, number))
            mirrors.see(page(NEW, number, page(OLD, number).print ^ changed))
        assert bool(mirrors.found) is same


def test_f70_hosts_that_differ_on_common_paths_are_no_mirrors():
    mirrors = Mirrors()
    for number in range(20):
        mirrors.see(page(OLD, number))
        mirrors.see(page(NEW, number) if number % 2 else page(NEW, number, number))
    assert not mirrors.found


def test_f70_pages_without_words_show_nothing():
    mirrors = Mirrors()
    for number in range(20):
        mirrors.see(page(OLD, number, 0))
        mirrors.see(page(NEW, number, 0))
    assert not mirrors.found


def test_f70_all_of_a_mirror_is_demoted_unless_it_is_trusted():
    traps, trusting = Traps(), Traps(trusted=("new.test/",))
    for seen in (traps, trusting):
        for number in range(5):
            seen.compare(page(OLD, number))
            seen.compare(page(NEW, number))
    found = traps.suspicion("http://new.test/other", NEW)
    assert found is not None
    assert found.reason == "trap-mirror"
    assert traps.suspicion("http://old.test/other", OLD) is None
    assert trusting.suspicion("http://new.test/other", NEW) is None


def test_f70_a_partition_is_told_of_mirrors_of_hosts_that_another_has():
    traps = Traps()
    traps.condemn([NEW])
    assert traps.suspicion("http://new.test/", NEW) is not None

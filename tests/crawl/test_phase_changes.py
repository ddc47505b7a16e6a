"""When a crawl takes another course: phases, full topics, a cutoff that moves."""

from analecta.crawl.phases import CrawlPhases
from analecta.frontier.policy import CrawlPhase
from analecta.model import UNLIMITED, Tally


def looked(helm, *tallies):
    return [helm.step(tally) for tally in tallies]


def test_without_any_of_it_the_course_is_straight_on():
    helm = CrawlPhases(["t"], ordered=True)
    assert looked(helm, Tally(pages=10**6)) == [[]]
    assert (helm.course, helm.limit()) == (CrawlPhase(), UNLIMITED)


def test_b10_the_harvest_begins_once_the_library_holds_enough():
    helm = CrawlPhases(["t"], before=30, learning=100)
    assert (helm.course.learning, helm.limit()) == (True, 70)
    assert looked(helm, Tally(pages=69), Tally(pages=71), Tally(pages=90)) == [
        [], ["the harvest began, after 101 pages"], []]  # fmt: skip
    assert (helm.course.learning, helm.limit()) == (False, UNLIMITED)
    assert not CrawlPhases(["t"], before=100, learning=100).course.learning, (
        "a crawl that goes on is in its right phase"
    )


def test_a_crawl_in_order_waits_for_each_look():
    helm = CrawlPhases(["t"], before=30, learning=100, full=5, ordered=True)
    limits = []
    for _ in range(4):
        limits.append(helm.limit())
        helm.step(Tally(pages=helm.limit()))
    assert limits == [50, 70, 100, 150]


def test_s7_a_topic_with_enough_pages_retires_for_good():
    helm = CrawlPhases(["bees", "rivers"], full=20)
    said = looked(helm, Tally(pages=50, topics={0: 20, 1: 19}), Tally(pages=100, topics={1: 19, 0: 3}))
    assert said == [["bees has 20 pages and is left at that"], []]
    assert helm.course.retired == (0,)


def test_s6_the_cutoff_moves_with_the_share_of_pages_on_topic():
    helm = CrawlPhases(["t"], cutoff=1)
    moves, on_topic = [], 0
    for step, share in enumerate((0.9, 0.9, 0.9, 0.3, 0.0, 0.0, 0.0, 0.0), 1):
        on_topic += int(200 * share)
        helm.step(Tally(pages=200 * step, on_topic=on_topic))
        moves.append(helm.course.cutoff)
    assert moves == [2, 3, 3, 3, 2, 1, 0, 0]


def test_s6_a_move_is_told_and_comes_after_so_many_pages():
    helm = CrawlPhases(["t"], cutoff=2)
    assert looked(helm, Tally(pages=199), Tally(pages=250, on_topic=10)) == [
        [], ["the cutoff is 1 now, after 2: 4% of the last 250 pages were on topic"]]  # fmt: skip
    assert helm.course == CrawlPhase(cutoff=1)

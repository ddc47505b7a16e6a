"""Pages that make poor items of a collection, whatever they are about: courses, calls for papers, CVs, shops (S15).

A page is of a kind by its cues: words and phrases with weights that a person can read and argue with, and the form of
its address. A cue counts once, or a little more if repeated. Cues add up; LINE of them is a confidence of 0.5. A long
page meets some by chance, so from LONG words on they count less. The cues are English; pages of other languages are
recognised by what shops and calls all over the world have in common, or not at all.
"""

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from analecta.judge.arrays import Floats
from analecta.model import Page
from analecta.text.tokens import Vocabulary, Words, words

KINDS = ("course", "call", "cv", "shop")
LINE = 6.0
LONG = 1200
_MANY = 3  # times a cue counts, at a lower rate each time

CUES = {
    "course": """
        syllabus:3 prerequisites:2 homework:2 midterm:3 grading:2 lectures:1.5 lecture:1 textbook:1 semester:1.5 ta:1
        assignments:1.5 quizzes:2 instructor:2 tuition:1 credits:1 enrolment:1 office_hours:3 final_exam:3
        course_description:3 required_text:2 lecture_notes:1.5 course_outline:3 problem_sets:2 late_policy:2
        learning_outcomes:2 class_meets:2 spring_semester:2 fall_semester:2 reading_list:1 course_materials:2
    """,
    "call": """
        cfp:3 camera_ready:4 for_papers:4 paper_submission:3 submission_deadline:4 important_dates:4 program_committee:3
        programme_committee:3 of_acceptance:2 are_invited:2
        of_interest:1 papers_should:2 peer_reviewed:1 workshop:1 keynote:1 deadline:1.5 organizers:1
        submitted_electronically:2 full_papers:2 extended_abstracts:2 conference_chair:2 general_chair:2
        steering_committee:2 easychair:3 author_notification:3 registration_deadline:2
    """,
    "cv": """
        curriculum_vitae:6 resume:2 vitae:3 work_experience:3 professional_experience:3 employment_history:3
        research_interests:1.5 of_birth:1.5 and_awards:1.5 references_available:3
        upon_request:1.5 refereed_publications:2 journal_articles:1 invited_talks:2 teaching_experience:2.5 phd:1
        postdoctoral:1 assistant_professor:1 dissertation:1 skills:1 nationality:1.5 marital_status:3 gpa:1.5
        career_objective:3 volunteer_experience:2 professional_affiliations:2 languages_spoken:2
    """,
    "shop": """
        to_cart:5 to_basket:5 to_bag:4 shopping_cart:4 shopping_basket:4 checkout:2.5 wishlist:2.5 wish_list:2.5
        in_stock:2.5 of_stock:2 free_shipping:3 free_delivery:3 our_price:2 list_price:2.5 customer_reviews:2
        gift_card:1.5 sku:2 qty:2 vat:1 your_cart:3 your_basket:3 sale_price:2 delivery_options:2
        returns_policy:2 best_sellers:1.5 price_high:2 warenkorb:4 panier:3 carrito:4 carrello:4
        winkelwagen:4 корзину:3 koszyka:4
    """,
}
ADDRESSES = {
    "course": re.compile(r"(?i)/(courses?|syllab\w*|teaching|lectures?|class(es)?|modules?)(/|[._-]|\d|$)"),
    "call": re.compile(r"(?i)(/|[._-])(cfp|call-?_?for-?_?(papers|participation))([/._-]|\d|$)"),
    "cv": re.compile(r"(?i)/(cv|resume|vitae?|curriculum[-_]?vitae)([/._-]|$)"),
    "shop": re.compile(r"(?i)(/|[._-])(shop|store|cart|basket|checkout|products?)([/._-]|$|\?)|//(shop|store)\."),
}
ADDRESS = 2.5  # cues that an address is worth

_ODD = np.uint64(0x9E3779B97F4A7C15)  # so that a phrase is another one the other way round


def kind_of(page: Page) -> tuple[str, float]:
    """The kind of a page and how sure that is; "" for a page of none of these kinds."""
    shown = "\n".join((page.title, *page.headings, page.text))
    return kinds_of(words([shown]), [page.url])[0]


def kinds_of(batch: Words, urls: Sequence[str] = ()) -> list[tuple[str, float]]:
    """The same for a batch of words already cut, with the addresses of the pages if they are known."""
    last, single, phrases, weights = _cues()
    at, _ = last.find(batch.hashes)
    pages = np.searchsorted(batch.starts, at, side="right") - 1
    here = batch.hashes[at]
    before = np.where(at > batch.starts[pages], batch.hashes[at - 1], 0).astype(np.uint64)
    alone, words_found = single.find(here)
    after, phrases_found = phrases.find(before * _ODD + here)
    cues = np.concatenate([words_found, len(single) + phrases_found])
    keys, often = np.unique(pages[np.concatenate([alone, after])] * len(weights) + cues, return_counts=True)
    scores = np.zeros((len(batch), len(KINDS)))
    np.add.at(
        scores, keys // len(weights), weights[keys % len(weights)] * np.log2(1 + np.minimum(often, _MANY))[:, None]
    )
    scores /= np.sqrt(np.maximum(np.diff(batch.starts) / LONG, 1.0))[:, None]
    for i, url in enumerate(urls):
        for k, kind in enumerate(KINDS):
            if scores[i, k] > 0 and ADDRESSES[kind].search(url):
                scores[i, k] += ADDRESS
    sure = scores / (scores + LINE)
    best = sure.argmax(axis=1) if len(sure) else np.zeros(0, np.int64)
    return [
        (KINDS[k], float(row[k])) if row[k] >= 0.5 else ("", float(row[k]))
        for k, row in zip(best.tolist(), sure, strict=True)
    ]


@cache
def _cues() -> tuple[Vocabulary, Vocabulary, Vocabulary, Floats]:
    """The last words of cues, to look for first; cues of one word and of two; the weights of these by kind."""
    cues = [(cue.rpartition(":"), k) for k, kind in enumerate(KINDS) for cue in CUES[kind].split()]
    names = sorted({name for (name, _, _), _ in cues}, key=lambda name: ("_" in name, name))
    weights = np.zeros((len(names), len(KINDS)))
    for (name, _, weight), k in cues:
        weights[names.index(name), k] = float(weight)
    one = [name for name in names if "_" not in name]
    two = words([name.replace("_", " ") for name in names if "_" in name]).hashes.reshape(-1, 2)
    single = words([" ".join(one)]).hashes
    last = Vocabulary(np.unique(np.concatenate([single, two[:, 1]])))
    return last, Vocabulary(single), Vocabulary(two[:, 0] * _ODD + two[:, 1]), weights

"""What a page is called, and a sentence or two of its text to show what it is about.

The text of a page has a line for each string between two tags, so menus and tables are short lines, and a sentence with
links in it is several. Lines that belong together are put together again, and the first real sentences are taken.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from analecta.text.display import one_line

LONGEST = 280  # letters of a summary
_LOOKED_AT = 20_000  # letters of a text, for sentences
_BEGINNING = 4_000  # and for single words
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]?\s+(?=[^a-z\s])|(?<=[。！？])")
_ENDS = tuple(".!?…。！？")
_CLOSING = "\"'”’)]"
_INNER = ",.;:)]'’”%([–—"  # a line that begins so goes on with the one before
_OPEN = "([,“–—-"  # and one that ends so is gone on with
_BEFORE_MARKS = re.compile(r"\s+(?=[,.;:!?)\]’”])|(?<=[(\[“])\s+")
_BEGINS = re.compile(r"[\w\"'“‘«¿¡(]")
_DENSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # no spaces, or few letters
_UNSEEN = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp"))  # kinds of characters
_NOTICE = "©"
_ENDLESS = 600  # letters: one sentence in hundreds is longer, and most menus are
_ENOUGH = 55  # letters of a sentence that says something
_LITTLE = 30  # and of one that will do where there is no other
_CHOICES = 8  # first sentences that are looked at
_NAMING = 4  # letters of a word of a title that names something
_NAMES = 0.55  # share of words with a capital (German has 0.4), above which it is a list of names
_FIGURES = 0.06  # and of figures, above which it is a table
_SHORT_RUN = 40  # letters: a capital after fewer begins something new


def summary(text: str, title: str = "", longest: int = LONGEST) -> str:
    """The first sentences that are no menu, no table and not the title again; "" where there are none.

    Of several, those come first that speak of what the title names: a picture's caption often stands before them.
    """
    told = _first(text, title, longest, _ENOUGH) or _first(text, title, longest, _LITTLE)
    named = [word for word in _WORD.findall(title.casefold()) if len(word) >= _NAMING]
    told.sort(key=lambda found: (found.endswith("…"), not any(word in found.casefold() for word in named)))
    return told[0] if told else ""


def name_of(title: str, url: str) -> str:
    """What to call a page: its title in one line, or its address where nothing of that would be seen."""
    line = one_line(title)
    return line if any(unicodedata.category(letter) not in _UNSEEN for letter in line) else url


def first_words(text: str, known: str, most: int) -> list[str]:
    """Words of the beginning of a text, each once, without those that are in `known`."""
    seen = {word.lower() for word in _WORD.findall(known)}
    found: list[str] = []
    for match in _WORD.finditer(text[:_BEGINNING]):
        word = match[0].lower()
        if word not in seen and (len(word) > 1 or _DENSE.match(word)):
            seen.add(word)
            found.append(word)
        if len(found) == most:
            break
    return found


def tidy(run: str) -> str:
    """Strings put together, without the blanks that tags left before marks."""
    return _BEFORE_MARKS.sub("", " ".join(run.split()))


def _first(text: str, title: str, longest: int, enough: int) -> list[str]:
    """The first things told in sentences of `enough` letters."""
    told = (_told(run, title, longest, enough) for run in _runs(text[:_LOOKED_AT]))
    return list(islice(filter(None, told), _CHOICES))


def _runs(text: str) -> Iterator[str]:
    """Lines put together as they were written."""
    run = ""
    for line in text.split("\n"):
        line = line.strip()
        if run and not _belongs(run, line):
            yield tidy(run)
            run = ""
        run = f"{run} {line}" if run else line
    if run:
        yield tidy(run)


def _belongs(run: str, line: str) -> bool:
    """Whether a line goes on with what stands before it, or begins something new."""
    if not line or _ended(run) or run.endswith(":"):
        return False
    last = run.rpartition(" ")[2]
    is_small = len(last) <= 3 and last.isalpha() and not _DENSE.match(last)  # as "the": something must come after it
    goes_on = line[0].islower() or line[0] in _INNER or run[-1] in _OPEN
    return goes_on or len(run) >= _SHORT_RUN or is_small


def _ended(words: str) -> bool:
    return words.rstrip(_CLOSING).endswith(_ENDS)


def _told(run: str, title: str, longest: int, enough: int) -> str:
    if len(run) < enough // 3:
        return ""
    sentences = [part.strip() for part in _END.split(run)]
    for n, sentence in enumerate(sentences):
        if _says_something(sentence, title, enough):
            told = sentence
            for more in sentences[n + 1 :]:
                if len(told) + len(more) >= longest or not _ended(more) or _NOTICE in more:
                    break
                told += more if _DENSE.match(more) else f" {more}"
            return _cut(told, longest)
    return ""


def _says_something(sentence: str, title: str, enough: int) -> bool:
    words = _WORD.findall(sentence)
    letters = sum(map(len, words))
    least = enough // 3 if _DENSE.search(sentence) else enough
    if not _ended(sentence) or letters < least or letters < 0.6 * len(sentence) or sentence == title:
        return False
    if _NOTICE in sentence or len(sentence) > _ENDLESS:  # the foot of a page, or lists of links put together
        return False
    if ")" in sentence.partition("(")[0]:  # its beginning is lost
        return False
    names = sum(word[0].isupper() for word in words)
    figures = sum(map(str.isdigit, sentence))
    return names < _NAMES * len(words) and figures < _FIGURES * len(sentence) and _BEGINS.match(sentence) is not None


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    kept = text[: longest - 1]
    return (kept.rpartition(" ")[0] or kept).rstrip(" ,;:–-") + "…"

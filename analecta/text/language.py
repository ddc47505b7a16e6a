"""The language of a page: what it says of itself if that can be, else its commonest words, else its trigrams."""

import re

from turbohtml.detect import detect_language

_NO_LANGUAGE = frozenset(("und", "zxx", "mul", "mis"))  # codes for: not known, none, several, one without a code
_CODE = re.compile(r"\s*([a-zA-Z]{2,3})(?:[-_][\w-]*)?\s*$")
_SAMPLE = 800  # characters: their trigrams cost 0.15 ms, their words 0.01

# Codes of ISO 639-2 and 639-3 that pages use or the detector gives, where ISO 639-1 has a shorter one; in the last line
# those that were once in use.
_SHORT = dict(
    pair.split(":")
    for pair in (
        "afr:af amh:am ara:ar arb:ar aze:az bel:be ben:bn bos:bs bul:bg cat:ca ces:cs cmn:zh cym:cy dan:da deu:de "
        "ell:el eng:en epo:eo est:et eus:eu fas:fa fin:fi fra:fr gle:ga glg:gl guj:gu heb:he hin:hi hrv:hr hun:hu "
        "hye:hy ind:id isl:is ita:it jav:jv jpn:ja kan:kn kat:ka kaz:kk khm:km kor:ko lao:lo lat:la lav:lv lit:lt "
        "mal:ml mar:mr mkd:mk mon:mn msa:ms mya:my nep:ne nld:nl nno:nn nob:nb nor:no ori:or pan:pa pes:fa pol:pl "
        "por:pt ron:ro rus:ru sin:si slk:sk slv:sl sna:sn som:so spa:es sqi:sq srp:sr sun:su swa:sw swe:sv tam:ta "
        "tel:te tgl:tl tha:th tuk:tk tur:tr ukr:uk urd:ur uzb:uz vie:vi xho:xh yid:yi yor:yo zho:zh zul:zu "
        "alb:sq arm:hy baq:eu bur:my chi:zh cze:cs dut:nl fre:fr geo:ka ger:de gre:el ice:is mac:mk may:ms per:fa "
        "rum:ro slo:sk wel:cy iw:he in:id ji:yi jw:jv"
    ).split()
)

# Words that hold a language together and are rare in its neighbours; enough of them settle the matter.
_COMMON = {
    "en": frozenset("the and of to is for that with this are from by you not be which have it was".split()),
    "de": frozenset("der und die das ist nicht ein eine mit für auf den von zu sich dem wird auch".split()),
    "fr": frozenset("le les des et est une dans pour que qui sur pas avec par ce sont au plus".split()),
    "es": frozenset("el los las del una que para con por como más se su al lo está pero son".split()),
    "it": frozenset("il di che per una con non sono della gli è nel anche alla dei più le".split()),
    "pt": frozenset("o os uma que para com não por mais dos da em ao como são das no na".split()),
    "nl": frozenset("het een van en dat niet voor met zijn op te aan ook wordt naar bij er".split()),
}
_LETTERS = 20  # with fewer the detector gives noise
_ENOUGH = 5  # different common words in the sample, and twice as many as any other language has


def language_of(text: str, *declared: str) -> str:
    """ISO 639-1 code (639-3 where there is none) of `text`; the first plausible one of `declared` is believed."""
    for label in declared:
        found = _CODE.match(label) if label else None
        if found:
            code = found[1].lower()
            code = _SHORT.get(code, code)
            if code not in _NO_LANGUAGE and not (code == "en" and _is_foreign(text)):
                return code
    # A third of the way in, menus are over and footers have not begun.
    start = len(text) // 3 if len(text) > 2 * _SAMPLE else 0
    sample = text[start : start + _SAMPLE]
    return by_words(sample) or by_trigrams(sample)


def by_words(sample: str) -> str:
    """The language whose commonest words stand in the sample, or "" where that is not clear."""
    words = set(sample.lower().split())
    scores = sorted(((len(words & common), code) for code, common in _COMMON.items()), reverse=True)
    (best, code), (second, _) = scores[:2]
    return code if best >= _ENOUGH and best >= 2 * second else ""


def by_trigrams(sample: str) -> str:
    """What the detector says, or "" where it says nothing or has too little to go by."""
    if sum(map(str.isalpha, sample)) < _LETTERS:
        return ""
    code = detect_language(sample).language or ""
    return _SHORT.get(code, code)


def _is_foreign(text: str) -> bool:
    """Whether a page that says "en" (the default of many templates) is mostly written in other letters."""
    sample = text[:400]
    return len(sample.encode()) > 1.5 * len(sample)

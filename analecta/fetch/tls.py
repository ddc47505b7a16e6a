"""What is wrong where no secure connection can be made: from OpenSSL's numbers and words to ours."""

import re

# X509_V_ERR_*, which OpenSSL keeps for all time.
_BY_NUMBER = {
    9: "tls-not-yet-valid",
    10: "tls-expired",
    18: "tls-self-signed",
    **dict.fromkeys((2, 19, 20, 21, 27), "tls-unknown-issuer"),
    62: "tls-wrong-name",
}
_BY_WORDS = (
    (re.compile(r"no alternative certificate subject name|does not match target host|hostname mismatch", re.I), 62),
    (re.compile(r"certificate has expired", re.I), 10),
    (re.compile(r"certificate is not yet valid", re.I), 9),
    (re.compile(r"self[- ]signed certificate in certificate chain", re.I), 19),
    (re.compile(r"self[- ]signed certificate", re.I), 18),
    (re.compile(r"unable to get (?:local )?issuer|unable to verify the first", re.I), 20),
)
_HANDSHAKE = (
    (re.compile(r"wrong version number|http request|packet length too long|record layer failure", re.I), "plain-http"),
    (
        re.compile(
            r"unsupported protocol|protocol version|version too low|no protocols available|dh key too small", re.I
        ),
        "too-old",
    ),
    (re.compile(r"reset by peer|unexpected eof|SSL_ERROR_SYSCALL|broken pipe|connection was aborted", re.I), "reset"),
)

RETRY = frozenset(("tls", "tls-reset"))  # where asking again may help; of all others only a person can


def handshake_reason(words: str) -> str:
    """Why a handshake broke, by libcurl's words."""
    return next((f"tls-{reason}" for pattern, reason in _HANDSHAKE if pattern.search(words)), "tls")


def certificate_reason(number: int, words: str = "") -> str:
    """What is wrong with a certificate, by OpenSSL's number; where libcurl looked itself, by its words."""
    if number not in _BY_NUMBER:
        number = next((found for pattern, found in _BY_WORDS if pattern.search(words)), 0)
    return _BY_NUMBER.get(number, "tls")

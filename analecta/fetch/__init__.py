"""URL -> bytes, or a reason why not: the only door to the network."""

# Every word that `NoAnswer.reason` and `Rules.reason` may hold, with a sentence for a person.
REASONS: dict[str, str] = {
    "bad-url": "The address is not a URL that can be asked for over http or https.",
    "guard": "The address leads into a private or special network, so it was not asked.",
    "dns": "The name servers did not answer or failed; the name may work later.",
    "no-such-host": "No such host: the name servers say that the name has no address.",
    "connect": "The server could not be reached: it refused the connection or there was no way to it.",
    "timeout": "The server did not answer in time.",
    "tls": "No secure connection could be made: the handshake failed or the certificate is not valid.",
    "empty": "The server closed the connection without a word.",
    "disconnect": "The connection broke before the answer's headers were complete.",
    "protocol": "What the server sent is not HTTP as any client would understand it.",
    "type": "It is of a type that is not wanted (fetch.types).",
    "size": "It is larger than things of its type may be (fetch.types).",
    "closed": "The crawl was stopping, so the request was given up.",
    "client": "The HTTP client failed in a way that it should not; the detail tells how.",
    "robots": "The site's robots.txt asks not to fetch this page.",
    "robots-unreachable": "The site's robots.txt could not be read, so nothing is fetched there for now.",
}

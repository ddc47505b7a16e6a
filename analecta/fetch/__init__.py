"""URL -> bytes, or a reason why not: the only door to the network."""

# Every word that `NoAnswer.reason` and `Rules.reason` may hold, with a sentence for a person.
REASONS: dict[str, str] = {
    "bad-url": "The address is not a URL that can be asked for over http or https.",
    "guard": "The address leads into a private or special network, so it was not asked.",
    "dns": "The name servers did not answer or failed; the name may work later.",
    "no-such-host": "No such host: the name servers say that the name has no address.",
    "connect": "The server could not be reached: it refused the connection or there was no way to it.",
    "timeout": "The server did not answer in time.",
    "tls": "No secure connection could be made; the detail says what the TLS library reported.",
    "tls-expired": "The server's certificate has expired.",
    "tls-not-yet-valid": "The server's certificate is not valid yet; check the clock of this machine, too.",
    "tls-wrong-name": "The server's certificate is for another host name.",
    "tls-self-signed": "The server's certificate is self-signed.",
    "tls-unknown-issuer": "The server's certificate was issued by an authority that is not trusted here.",
    "tls-too-old": "The server only offers TLS versions or ciphers that are no longer safe.",
    "tls-plain-http": "The server speaks plain HTTP on a port that should use TLS.",
    "tls-reset": "The server closed the connection during the TLS handshake.",
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

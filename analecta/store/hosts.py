"""What a shard knows of the hosts of its URLs: what they ask for, how many pages they gave, and their robots.txt."""

import sqlite3


class NameTable:
    """A table of names in one shard, with small numbers that stand for them."""

    def __init__(self, db: sqlite3.Connection, table: str, most: int) -> None:
        """`most` names are held in memory."""
        self.db, self._most = db, most
        self._insert = f"INSERT OR IGNORE INTO {table} (name) VALUES (?)"
        self._select = f"SELECT n FROM {table} WHERE name = ?"
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a name; a new one gets the next."""
        n = self._numbers.get(name)
        if n is None:
            self.db.execute(self._insert, (name,))
            n = int(self.db.execute(self._select, (name,)).fetchone()[0])
            if len(self._numbers) > self._most:
                self._numbers.clear()
            self._numbers[name] = n
        return n


class HostTable(NameTable):
    """The hosts of one shard."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db, "hosts", 50_000)

    def set_delay(self, name: str, delay: float) -> None:
        """Remember the Crawl-delay of a host."""
        self.db.execute("UPDATE hosts SET delay = ? WHERE n = ?", (delay, self.number(name)))

    def set_wait(self, name: str, until: float) -> None:
        """Remember until when (wall clock) a host asked us to wait."""
        self.db.execute("UPDATE hosts SET wait_until = ? WHERE n = ?", (until, self.number(name)))

    def patience(self) -> list[tuple[str, float, float]]:
        """What hosts asked for: (name, delay, until when to wait)."""
        return self.db.execute(
            "SELECT name, coalesce(delay, 0), coalesce(wait_until, 0) FROM hosts"
            " WHERE delay IS NOT NULL OR wait_until IS NOT NULL"
        ).fetchall()

    def set_reserved(self, name: str, reserved: str) -> None:
        """Remember what a host's robots.txt reserves."""
        self.db.execute("UPDATE hosts SET reserved = ? WHERE n = ?", (reserved, self.number(name)))

    def soft404s(self) -> dict[str, int]:
        """Hosts that answer 200 for pages they do not have, with the fingerprint of that answer."""
        return dict(self.db.execute("SELECT name, soft404 FROM hosts WHERE soft404 IS NOT NULL").fetchall())

    def add_page(self, name: str) -> int:
        """Count a page of a host; how many there are now."""
        query = "UPDATE hosts SET pages = pages + 1 WHERE n = ? RETURNING pages"
        return int(self.db.execute(query, (self.number(name),)).fetchone()[0])

    def pages(self, name: str) -> int:
        """How many pages of a host were counted."""
        row = self.db.execute("SELECT pages FROM hosts WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def full(self, most: int) -> set[str]:
        """The hosts that have as many pages as they may (0: any number), which are counted anew."""
        self.db.execute(
            "UPDATE hosts SET pages = counted.n FROM"
            " (SELECT host, count(page) AS n FROM urls GROUP BY host) counted WHERE counted.host = hosts.n"
        )
        rows = self.db.execute("SELECT name FROM hosts WHERE ? AND pages >= ?", (most, most))
        return {name for (name,) in rows}

    def load_robots(self, origin: str) -> tuple[float, int, bytes] | None:
        """The robots.txt of a site as it was last read."""
        row = self.db.execute("SELECT fetched_at, status, body FROM robots WHERE origin = ?", (origin,)).fetchone()
        return (row[0], row[1], row[2]) if row else None

    def save_robots(self, origin: str, saved: tuple[float, int, bytes]) -> None:
        """Keep the robots.txt of a site."""
        self.db.execute("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?)", (origin, *saved))

"""Letters to other partitions (crawl/processes/exchange.py), kept in the shard: true when its transaction is."""

from analecta.store.partition import Shard
from analecta.store.schema import MetaKey


class Outbox:
    """The outbox of a partition, and how far it has taken in what others sent."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard

    def post(self, dest: int, seq: int, letter: bytes) -> None:
        """Put a letter into the outbox."""
        self.shard.db.execute("INSERT INTO outbox VALUES (?, ?, ?)", (dest, seq, letter))
        self.shard.put(f"{MetaKey.POSTED}{dest}", seq)

    def letters(self, dest: int, after: int, count: int) -> list[tuple[int, bytes]]:
        """Letters to `dest` numbered above `after`."""
        return self.shard.db.execute(
            "SELECT seq, letter FROM outbox WHERE dest = ? AND seq > ? ORDER BY seq LIMIT ?",
            (dest, after, count),
        ).fetchall()

    def delivered(self, dest: int, watermark: int) -> None:
        """Forget letters that `dest` has taken in."""
        self.shard.db.execute("DELETE FROM outbox WHERE dest = ? AND seq <= ?", (dest, watermark))

    def last_posted(self, dest: int) -> int:
        """The number of the last letter ever written to `dest`."""
        return int(self.shard.get(f"{MetaKey.POSTED}{dest}", 0))

    def first_kept(self, dest: int) -> int:
        """The number of the first letter to `dest` that is still here."""
        row = self.shard.db.execute("SELECT min(seq) FROM outbox WHERE dest = ?", (dest,)).fetchone()
        return int(row[0]) if row[0] is not None else self.last_posted(dest) + 1

    def begin(self, dest: int) -> int:
        """The number of the last letter that `dest` may have been sent; stays so, over starts, until `renumber`."""
        begun = int(self.shard.get(f"{MetaKey.BEGUN}{dest}", self.last_posted(dest)))
        self.shard.put(f"{MetaKey.BEGUN}{dest}", begun)
        return begun

    def renumber(self, dest: int, shift: int) -> None:
        """Give the letters to `dest` the numbers under which they are sent from now on: higher by `shift`."""
        self.shard.db.execute("DELETE FROM meta WHERE key = ?", (f"{MetaKey.BEGUN}{dest}",))
        if shift:
            self.shard.db.execute("UPDATE outbox SET seq = -seq - ? WHERE dest = ?", (shift, dest))
            # In two steps: numbers are unique.
            self.shard.db.execute("UPDATE outbox SET seq = -seq WHERE dest = ?", (dest,))
            self.shard.put(f"{MetaKey.POSTED}{dest}", self.last_posted(dest) + shift)

    def watermark(self, source: int) -> int:
        """The number of the last letter taken in from `source`."""
        row = self.shard.db.execute("SELECT watermark FROM inbox WHERE source = ?", (source,)).fetchone()
        return int(row[0]) if row else 0

    def set_watermark(self, source: int, seq: int) -> None:
        """Remember how far `source`'s letters have been taken in."""
        self.shard.db.execute("INSERT OR REPLACE INTO inbox VALUES (?, ?)", (source, seq))


def has_letters(shard: Shard) -> bool:
    """Whether links to other partitions are on their way, with numbers of topics in them."""
    return shard.db.execute("SELECT 1 FROM outbox").fetchone() is not None

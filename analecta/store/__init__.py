"""What is kept: the library folder, its shards (SQLite) and its archive (WARC). Nothing outside knows the driver.

Who catches what SQLite raises gets the classes from here.
"""

from sqlite3 import DatabaseError, OperationalError, sqlite_version
from sqlite3 import Error as SqliteError

__all__ = ["DatabaseError", "OperationalError", "SqliteError", "sqlite_version"]

"""Keeps a SQLite database in a frame, with Python's own module sqlite3.

Run it in an empty folder. It takes the path of Cairn's extension of SQLite:
python3 sqlite_vfs.py /usr/local/lib/x86_64-linux-gnu/cairn/cairn_sqlite.so

With the Python package of Cairn, `cairn.sqlite.connect("app.db")` does what `connect` does here. A
Python that loads no extensions raises AttributeError; Debian's loads them.

Prints:
    3 visits, the longest on /docs
    a reader still sees 3 visits
    after its transaction it sees 4
    rolled back: 4 visits
    the file is a frame, a third as large as the database
"""

import os
import sqlite3
import sys


def load(extension: str) -> None:
    """Loads the extension for all connections of this process."""
    loader = sqlite3.connect(":memory:")
    loader.enable_load_extension(True)
    loader.load_extension(extension)
    loader.close()


def connect() -> sqlite3.Connection:
    """Opens the database, and makes it if it does not exist. `vfs=cairn` stores it in a frame."""
    return sqlite3.connect("file:app.db?vfs=cairn&codec=zstd", uri=True)


def count(db: sqlite3.Connection) -> int:
    return db.execute("SELECT count(*) FROM visits").fetchone()[0]


def main() -> None:
    load(sys.argv[1])
    db = connect()
    with db:  # a transaction: it survives a power cut as soon as the block has ended
        db.execute("CREATE TABLE visits(page TEXT, seconds INTEGER, agent TEXT)")
        rows = [("/", 3), ("/docs", 40), ("/news", 5)]
        db.executemany("INSERT INTO visits VALUES (?, ?, 'robot')", rows)
    longest = db.execute("SELECT page FROM visits ORDER BY seconds DESC").fetchone()[0]
    print(count(db), "visits, the longest on", longest)

    # A read transaction keeps its state. It waits for no writer, and no writer waits for it.
    reader = connect()
    reader.execute("BEGIN")
    count(reader)
    with db:
        db.execute("INSERT INTO visits VALUES ('/blog', 7, 'robot')")
    print("a reader still sees", count(reader), "visits")
    reader.execute("COMMIT")
    print("after its transaction it sees", count(reader))

    # A transaction that fails leaves nothing behind.
    try:
        with db:
            db.execute("DELETE FROM visits")
            raise KeyError("a mistake")
    except KeyError:
        print("rolled back:", count(db), "visits")

    # Each page of the database is a compressed chunk of the frame.
    with db:
        db.executemany("INSERT INTO visits VALUES ('/', ?, 'robot')", ((i,) for i in range(20_000)))
    pages, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    reader.close()
    db.close()  # gives back what was reserved at the end of the file
    with open("app.db", "rb") as file:
        is_frame = file.read(9)[2:] == b"b2frame"
    if is_frame and os.path.getsize("app.db") < pages * size / 3:
        print("the file is a frame, a third as large as the database")


if __name__ == "__main__":
    main()

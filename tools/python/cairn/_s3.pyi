"""Object stores beneath the package cairn; not every build has them."""

def open_files() -> object:
    """A file system with objects, for the calls of `cairn._engine`. It is never freed."""

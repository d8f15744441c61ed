"""A disk without room."""

import resource


class no_room:
    """A context in which no file can grow beyond a few bytes: as on a full disk."""

    def __enter__(self):
        self.limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, self.limits[1]))

    def __exit__(self, *exception):
        resource.setrlimit(resource.RLIMIT_FSIZE, self.limits)

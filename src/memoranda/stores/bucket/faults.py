"""What the client's errors mean to us. No message of the server's goes on: it may hold a key, a host
or a header. It is chained, for logs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from memoranda.errors import Unavailable
from memoranda.stores.patience import Again, Lost

if TYPE_CHECKING:
    from collections.abc import Generator

UNREACHABLE: Final = (
    "The object store can't be reached; try again. If it never answers, look at endpoint, region and"
    " credentials; an endpoint without TLS on another machine needs allow_http=true."
)
NO_BUCKET: Final = "There is no such bucket or container, or it can't be seen; nothing changed."


class Taken(Exception):
    """Not an error: what was to be written conditionally is there, or is another one by now."""


class Missing(Exception):
    """Not an error: there is no such object."""


class Same(Exception):
    """Not an error: the object is the one that is known already."""


@contextmanager
def translated() -> Generator[None]:
    """Raises our errors in place of the client's.

    ``Taken`` for a precondition that failed (412), or a conflict of two requests (409); ``Missing``
    (404), ``Same`` (304); ``Unavailable`` for what will not pass; ``Lost`` for anything else, after
    which a write may have been done or not.
    """
    from obstore import exceptions

    try:
        yield
    except (exceptions.AlreadyExistsError, exceptions.PreconditionError) as error:
        raise Taken from error
    except exceptions.NotModifiedError as error:
        raise Same from error
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
            raise Unavailable(NO_BUCKET) from error
        raise Missing from error
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
        raise Unavailable(
            "The object store refuses these credentials, or they may not do this; nothing changed."
        ) from error
    except (exceptions.NotSupportedError, exceptions.InvalidPathError) as error:
        raise Unavailable("The object store can't do this; nothing changed.") from error
    except (exceptions.BaseError, OSError) as error:
        if _is_refused(str(error)):
            raise Again("The object store can't do this just now; try again.") from error
        raise Lost(UNREACHABLE) from error


def _is_refused(text: str) -> bool:
    """Whether the server said that it did nothing: too many requests."""
    return "429 Too Many" in text or "SlowDown" in text

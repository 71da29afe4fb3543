"""Client of the Tapegraph gateway for market-data analytics."""

from . import types
from .answers import Answer, AsyncAnswer, GraphAnswer, Rate
from .client import AsyncClient, Client
from .errors import (
    ApiError,
    InvalidParams,
    NotEntitled,
    NotFound,
    RateLimited,
    ServerFailed,
    TapegraphError,
    TooManyPages,
    Unauthenticated,
    Unreachable,
)
from .streams import Event
from .version import VERSION as __version__

__all__ = [
    "Answer",
    "ApiError",
    "AsyncAnswer",
    "AsyncClient",
    "Client",
    "Event",
    "GraphAnswer",
    "InvalidParams",
    "NotEntitled",
    "NotFound",
    "Rate",
    "RateLimited",
    "ServerFailed",
    "TapegraphError",
    "TooManyPages",
    "Unauthenticated",
    "Unreachable",
    "__version__",
    "types",
]

"""What can go wrong, by the ``error.code`` of the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class TapegraphError(Exception):
    """Any error of this package."""


class Unreachable(TapegraphError):
    """The gateway did not answer. The cause is the error of ``httpx``."""


class TooManyPages(TapegraphError):
    """A list has more pages or rows than the default bounds, or its cursor repeats."""


class ApiError(TapegraphError):
    """An error of the gateway. Branch on ``code``; the message is for people."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        data: Any = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        #: Status of the answer.
        self.status = status
        #: Machine-readable details, such as ``parameter`` or ``required_tier``.
        self.details = dict(details or {})
        #: Id of the request, for the operator of the gateway.
        self.request_id = request_id
        #: Seconds after which to retry; None = not given.
        self.retry_after = retry_after
        #: The part of a graph's answer that stands beside the error.
        self.data = data


class InvalidParams(ApiError):
    """``invalid_params``: a parameter is invalid. The message names it."""


class Unauthenticated(ApiError):
    """``unauthenticated`` or ``token_expired``: no valid credential."""


class NotEntitled(ApiError):
    """``not_entitled_tier`` or ``attestation_required``: the account may not read this."""


class NotFound(ApiError):
    """``not_found``: the symbol or record does not exist."""


class RateLimited(ApiError):
    """``rate_limited``: too many requests. ``retry_after`` says when to continue."""


class ServerFailed(ApiError):
    """``internal`` or ``provider_unavailable``: the gateway, or a source of its data, failed."""


_BY_CODE: dict[str, type[ApiError]] = {
    "invalid_params": InvalidParams,
    "unauthenticated": Unauthenticated,
    "token_expired": Unauthenticated,
    "not_entitled_tier": NotEntitled,
    "attestation_required": NotEntitled,
    "not_found": NotFound,
    "rate_limited": RateLimited,
    "internal": ServerFailed,
    "provider_unavailable": ServerFailed,
}


def error_of(code: str, message: str, **rest: Any) -> ApiError:
    """The error of a code."""
    return _BY_CODE.get(code, ApiError)(code, message, **rest)

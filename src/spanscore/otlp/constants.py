"""Typed Arrow constants.

pyarrow 26 infers the type of a bare Python constant by trying to import a package each time, which costs more than the
comparison it is wanted for.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


@cache
def constant(value: Any, type_: pa.DataType) -> pa.Scalar:
    """The value as a scalar of the type; None is null."""
    return pa.scalar(value, type_)


def filled(array: Any, value: Any) -> Any:
    """The array with its nulls replaced by the value."""
    return pc.fill_null(array, constant(value, array.type)) if array.null_count else array


def equals(array: Any, value: Any) -> Any:
    """Where the array equals the value."""
    return pc.equal(array, constant(value, array.type))


def null_where(mask: Any, array: Any) -> Any:
    """The array with null where the mask is true."""
    return pc.if_else(mask, constant(None, array.type), array)

"""Arrays that travel between processes as .npy bytes, read as if the sender were hostile."""

import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class WrongArray(Exception):
    """An array is not what was asked for; the message says what it has or is."""


def pack_arrays(arrays: Sequence[Array]) -> bytes:
    """Give arrays as .npy files one after the other."""
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def unpack_floats(message: bytes, shape: tuple[int, ...] | None = None) -> Array:
    """Read one .npy file of finite floating-point numbers; raises `WrongArray`.

    No memory is reserved on the word of its header, and nothing in it is unpickled.
    """
    stream = io.BytesIO(message)
    try:
        version = np.lib.format.read_magic(stream)
        found, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
        plain = version == (1, 0) and all(0 <= side <= len(message) for side in found)
    except Exception:  # whatever it is that these bytes provoke
        plain = False
    if not plain:
        raise WrongArray("is no array of numbers")
    if shape is not None and found != shape:
        raise WrongArray(f"has the shape {found}; the reference's is {shape}")
    if dtype.kind != "f" or dtype.itemsize > 8:
        raise WrongArray(f"has the type {dtype}; return float64")
    if len(message) - stream.tell() != math.prod(found) * dtype.itemsize:
        raise WrongArray("is cut short or too long")
    values: Array = np.frombuffer(message, dtype, offset=stream.tell())
    if not np.isfinite(values).all():
        raise WrongArray("has NaN or infinite values")
    return values.reshape(found, order="F" if fortran_order else "C")


def check_agreement(output: Array, expected: Array, rtol: float, atol: float) -> None:
    """Raise `WrongArray` unless ``numpy.allclose`` holds."""
    with np.errstate(over="ignore"):
        if np.allclose(output, expected, rtol=rtol, atol=atol):
            return
        difference = np.max(np.abs(output.astype(float) - expected))
    raise WrongArray(
        f"has values that differ from the reference's by up to {difference:.3g} "
        f"(allowed: {atol:g} + {rtol:g} x |value|)"
    )

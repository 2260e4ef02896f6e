"""Protocol buffer messages, written: the few wire types that an ONNX model needs.

The encoding is the published one: a field is a key, `number << 3 | wire type`, and a value.
"""

import struct
from typing import Self

_VARINT, _LENGTH_DELIMITED, _FIXED_32 = 0, 2, 5
_SEVEN_BITS = 0x7F
_MORE_FOLLOW = 0x80
_SIXTY_FOUR_BITS = (1 << 64) - 1


def varint(value: int) -> bytes:
    """Return an integer in groups of seven bits, lowest first.

    A negative one is the two's complement of 64 bits.

    >>> varint(300).hex(), len(varint(-1))
    ('ac02', 10)
    """
    rest = value & _SIXTY_FOUR_BITS
    groups = bytearray()

    while rest > _SEVEN_BITS:
        groups.append(rest & _SEVEN_BITS | _MORE_FOLLOW)
        rest >>= 7
    groups.append(rest)
    return bytes(groups)


class Message:
    """A message under construction; its methods append one field each and return it for chaining.

    It keeps pieces and joins them once at the end: the weights, most of a model's bytes, are not
    copied at every level.

    >>> Message().add_integer(1, 150).add_text(2, "hi").to_bytes().hex()
    '08960112026869'
    """

    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: list[bytes | memoryview] = []
        self._size = 0

    def add_integer(self, number: int, value: int) -> Self:
        """Append an integer or an enumeration's value."""
        return self._append(_key(number, _VARINT), varint(value))

    def add_real(self, number: int, value: float) -> Self:
        """Append a number of 32 bits."""
        return self._append(_key(number, _FIXED_32), struct.pack("<f", value))

    def add_text(self, number: int, value: str) -> Self:
        """Append a string."""
        return self.add_data(number, value.encode())

    def add_data(self, number: int, value: bytes | memoryview) -> Self:
        """Append bytes; a memoryview must be one of bytes."""
        return self._append(_key(number, _LENGTH_DELIMITED), varint(len(value)), value)

    def add_message(self, number: int, value: "Message") -> Self:
        """Append a message inside this one."""
        return self._append(_key(number, _LENGTH_DELIMITED), varint(value._size), *value._pieces)  # noqa: SLF001 -- own class

    def to_bytes(self) -> bytes:
        """Return the whole message."""
        return b"".join(self._pieces)

    def _append(self, *pieces: bytes | memoryview) -> Self:
        self._pieces += pieces
        self._size += sum(map(len, pieces))
        return self


def _key(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)

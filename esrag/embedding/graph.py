"""ONNX models without the `onnx` package: nodes and constants, written as protocol buffers.

Field numbers are those of the format's own definition, onnx.proto.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from esrag.embedding.protobuf import Message

MICROSOFT = "com.microsoft"  # onnxruntime's own operators
_OPERATOR_SETS = {"": 20, MICROSOFT: 1}  # 20 is the first with Gelu
_FORMAT_VERSION = 9  # the one that came with operator set 20
_ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
_FLOAT_ATTRIBUTE, _INTEGER_ATTRIBUTE, _STRING_ATTRIBUTE = 1, 2, 3

Dimension = int | str
Attribute = int | float | str


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the graph; a dimension is a size, or a name where it varies."""

    name: str
    element_type: str
    shape: tuple[Dimension, ...]


@dataclass(slots=True)
class Graph:
    """A graph under construction; values are known by name, "" is an optional input left out."""

    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    _nodes: list[Message] = field(default_factory=list)
    _constants: dict[str, npt.NDArray[np.generic]] = field(default_factory=dict)

    def add_constant(self, name: str, value: npt.ArrayLike) -> str:
        """Add a constant and return its name; the first value under a name stays."""
        self._constants.setdefault(name, np.asarray(value))
        return name

    def add(
        self,
        operator: str,
        *inputs: str,
        output: str = "",
        domain: str = "",
        **attributes: Attribute,
    ) -> str:
        """Add a node with one output and return the name of that output."""
        output = output or f"{operator}_{len(self._nodes)}"
        self._add(operator, inputs, [output], domain, attributes)
        return output

    def quantise_linearly(self, value: str) -> tuple[str, str, str]:
        """Add a DynamicQuantizeLinear node.

        Return the names of the uint8 values, their scale and their zero point.
        """
        stem = f"quantised_{len(self._nodes)}"
        outputs = (stem, f"{stem}_scale", f"{stem}_zero_point")
        self._add("DynamicQuantizeLinear", [value], outputs, "", {})
        return outputs

    def to_bytes(self) -> bytes:
        """Return the model, as onnxruntime reads it."""
        graph = self._build_graph()
        model = Message().add_integer(1, _FORMAT_VERSION).add_text(2, "esrag").add_message(7, graph)
        for domain, version in _OPERATOR_SETS.items():
            model.add_message(8, Message().add_text(1, domain).add_integer(2, version))
        return model.to_bytes()

    def _build_graph(self) -> Message:
        graph = Message().add_text(2, "esrag")
        for node in self._nodes:
            graph.add_message(1, node)
        for name, value in self._constants.items():
            graph.add_message(5, _tensor(name, value))
        for port in self.inputs:
            graph.add_message(11, _value_info(port))
        for port in self.outputs:
            graph.add_message(12, _value_info(port))
        return graph

    def _add(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str,
        attributes: dict[str, Attribute],
    ) -> None:
        node = Message()
        for name in inputs:
            node.add_text(1, name)
        for name in outputs:
            node.add_text(2, name)
        node.add_text(3, outputs[0]).add_text(4, operator)
        for name, value in attributes.items():
            node.add_message(5, _attribute(name, value))
        self._nodes.append(node.add_text(7, domain))


def _attribute(name: str, value: Attribute) -> Message:
    message = Message().add_text(1, name)
    if isinstance(value, float):
        return message.add_real(2, value).add_integer(20, _FLOAT_ATTRIBUTE)
    if isinstance(value, int):
        return message.add_integer(3, value).add_integer(20, _INTEGER_ATTRIBUTE)
    return message.add_text(4, value).add_integer(20, _STRING_ATTRIBUTE)


def _tensor(name: str, value: npt.NDArray[np.generic]) -> Message:
    message = Message()
    for size in value.shape:
        message.add_integer(1, size)
    raw = np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    return (
        message.add_integer(2, _ELEMENT_TYPES[value.dtype.name]).add_text(8, name).add_data(9, raw)
    )


def _value_info(port: Port) -> Message:
    shape = Message()
    for size in port.shape:
        shape.add_message(
            1,
            Message().add_integer(1, size)
            if isinstance(size, int)
            else Message().add_text(2, size),
        )
    tensor_type = Message().add_integer(1, _ELEMENT_TYPES[port.element_type]).add_message(2, shape)
    return Message().add_text(1, port.name).add_message(2, Message().add_message(1, tensor_type))

"""How runtimes have each operator whose types they are asked for: to be read without them."""

from collections.abc import Mapping

DECLARED_SUPPORT: Mapping[str, Mapping[str, str]] = {
    "openvino": {
        "openvino/VariadicSplit-1": "native",
        "openvino/Slice-8": "native",
        "openvino/Broadcast-1": "native",
        "openvino/Gather-8": "native",
    },
    "onnxruntime": {
        "openvino/VariadicSplit-1": "composed: Split; the host works out a length of -1",
        "openvino/Slice-8": "native",
        "openvino/Broadcast-1": "composed: Expand; the host sees to it that no target is stretched",
        "openvino/Gather-8": "composed: Gather, without batches and indices out of range",
        "directml/DML_OPERATOR_SPLIT": "composed: Split, in a model of the described shapes",
    },
}

"""How runtimes have each operator whose types they are asked for: to be read without them."""

from collections.abc import Mapping

HOWS: Mapping[str, Mapping[str, str]] = {
    "openvino": {
        "openvino/VariadicSplit-1": "native",
        "openvino/Slice-8": "native",
        "openvino/Broadcast-1": "native",
        "openvino/Gather-8": "native",
    },
    "onnxruntime": {
        "openvino/VariadicSplit-1": "composed: Split; the host works out a length of -1",
        "openvino/Slice-8": "native",
        "openvino/Broadcast-1": "composed: Expand, which stretches the target too",
        "openvino/Gather-8": "composed: Gather, which has no batches and no zeros for strays",
        "directml/DML_OPERATOR_SPLIT": "composed: Split, in a model of the described shapes",
    },
}

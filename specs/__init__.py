"""The operator specs that come with opcert: one YAML file per operator, FAMILY/NAME.yaml."""

# The operators of the core suite, which is committed and comes with opcert. The suites of the other
# specs are generated where they are needed.
CORE_OPERATORS = (
    "directml/DML_OPERATOR_SPLIT",
    "openvino/Broadcast-1",
    "openvino/Gather-8",
    "openvino/Slice-8",
    "openvino/VariadicSplit-1",
)

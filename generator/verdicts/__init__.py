"""Vector and outcome -> verdict: certification, causes, confirmation, reduction, redaction."""

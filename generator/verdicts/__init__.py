"""Vector and outcome -> verdict: scope, waivers, causes, confirmation."""

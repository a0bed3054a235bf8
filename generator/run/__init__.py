"""Call x backend -> outcome, in this process: supported, rehearsed, compared."""

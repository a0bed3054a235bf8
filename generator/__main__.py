"""The program; an interrupt waits until it can end a command in one line."""

import signal


def main() -> None:
    """Run the command line."""
    if hasattr(signal, "pthread_sigmask"):
        # NumPy makes an error of its own of an interrupt while it is imported.
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    # It takes time to import.
    from opcert.cli import main  # noqa: PLC0415

    main()


if __name__ == "__main__":
    main()

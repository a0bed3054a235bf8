"""The program; an interrupt waits until it can end a command in one line."""

import signal


def main() -> None:
    """Run the command line."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    # It takes time to import.
    from opcert.cli import main  # noqa: PLC0415

    main()


if __name__ == "__main__":
    main()

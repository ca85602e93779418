"""`spanscore doctor`: how the store is."""

from spanscore.cli.options import DEFAULT_STORE, Output, OutputOption, StoreOption


def doctor(store: StoreOption = DEFAULT_STORE, output: OutputOption = Output.TEXT) -> None:
    """Tell what came in, what waits, and what to do.

    Everything received is accounted for: stored, duplicate, conflict or rejected. The exit code is 0 when the store
    can be read, whatever the advice, and 3 when it is damaged or locked.

    \b
    Examples:
      spanscore doctor
      spanscore doctor --format json | jq .advice
    """
    from spanscore.doctor import examine
    from spanscore.report.health import print_health

    print_health(examine(store), output)

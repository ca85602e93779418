"""Every error spanscore raises on purpose, one tree.

SpanscoreError                  exit 4 unless a class below says otherwise
├── UsageError                  exit 2: a command or a setting is wrong
├── InputError                  exit 2: a path given for reading is missing or unreadable
├── EvaluatorInvalid            exit 2: an evaluator file, or a case of one, breaks its contract
├── SuiteInvalid                exit 2: a suite file cannot be used
├── NotComparable               exit 3: figures that were not made alike
├── BenchError                  exit 3: a benchmark could not be run to its end
├── ScoringRunning              exit 3: another process scores the store
├── DeliveryFailed              exit 3: what was to be sent did not arrive
├── StatisticsInputError        exit 3: numbers that no figure can be made of
├── DecodeError                 exit 3: bytes that are not the OTLP they should be
├── CollectorError              exit 3: the collector could not do its work
│   ├── CollectorRunning        exit 2: another collector uses the store
│   ├── SpoolUnavailable        the spool could not be written; nothing was acknowledged
│   └── DrainTimeout            what was acknowledged is safe in the spool but not yet in the store
└── StoreError                  exit 3: the store could not be used
    ├── StoreMissing            exit 2: there is no store at this place
    ├── StoreLocked             another process holds the file
    ├── StoreTooNew             written by a newer spanscore or DuckDB
    ├── StoreOutdated           written by an older spanscore, and opened for reading only
    ├── StoreUnrecognised       exit 2: the file is not a spanscore store
    ├── StoreDamaged            DuckDB refuses the file
    └── QueryError              exit 2: a query that may not run, or failed
        └── QueryTimeout        exit 3: a query that ran longer than it was allowed to
"""

from collections.abc import Sequence


class SpanscoreError(Exception):
    """An error meant for the user's eyes: what happened, where, what to do. Never printed with a traceback."""

    exit_code = 4


class UsageError(SpanscoreError):
    """A command, an option or a setting is wrong."""

    exit_code = 2


class InputError(SpanscoreError):
    """A path given for reading is missing or unreadable."""

    exit_code = 2


class EvaluatorInvalid(SpanscoreError):
    """An evaluator file, or a file with cases of one, breaks its contract.

    Attributes:
        problems: all that is wrong, each with its place and what to do.
    """

    exit_code = 2

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class SuiteInvalid(SpanscoreError):
    """A suite file cannot be used.

    Attributes:
        problems: all that is wrong, each with its place and what to do.
    """

    exit_code = 2

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class NotComparable(SpanscoreError):
    """Two sets of figures were not made alike: comparing them would say nothing."""

    exit_code = 3


class BenchError(SpanscoreError):
    """A benchmark could not be run to its end; run again, it goes on where it stopped."""

    exit_code = 3


class ScoringRunning(SpanscoreError):
    """Another process scores the store; what this one would have done, that one does."""

    exit_code = 3


class DeliveryFailed(SpanscoreError):
    """Scores or messages did not reach whom they are for. They are kept, and sent again by the next pass.

    Attributes:
        is_final: the receiver was reached and refused this; it may take another.
    """

    exit_code = 3

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class StatisticsInputError(SpanscoreError):
    """Numbers that no figure can be made of: NaN, a share above 1, a level that is none."""

    exit_code = 3


class DecodeError(SpanscoreError):
    """Bytes that are not the OTLP they should be; nothing of them is kept.

    Attributes:
        reason: one word for counting, such as `malformed_json`.
        detail: what exactly, and where.
    """

    exit_code = 3

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class CollectorError(SpanscoreError):
    """The collector could not do its work."""

    exit_code = 3


class CollectorRunning(CollectorError):
    """Another process collects into the same store directory."""

    exit_code = 2


class SpoolUnavailable(CollectorError):
    """A request could not be written to the spool: it was not acknowledged, and may be sent again."""


class DrainTimeout(CollectorError):
    """What was acknowledged is safe in the spool, but could not be moved to the store in time."""


class StoreError(SpanscoreError):
    """The store could not be used."""

    exit_code = 3


class StoreMissing(StoreError):
    """There is no store in the directory, and reading does not create one."""

    exit_code = 2


class StoreLocked(StoreError):
    """Another process holds the store's file, and did not let go in time."""


class StoreTooNew(StoreError):
    """The store was written by a newer version than this one."""


class StoreOutdated(StoreError):
    """The store needs a migration or a rebuild, which reading does not do."""


class StoreUnrecognised(StoreError):
    """The file holds something else than a spanscore store; it is left as it is."""

    exit_code = 2


class StoreDamaged(StoreError):
    """DuckDB refuses the store's file or its write-ahead log."""


class QueryError(StoreError):
    """A query is not allowed, or DuckDB refused it."""

    exit_code = 2


class QueryTimeout(QueryError):
    """A query was stopped because it ran longer than it was allowed to."""

    exit_code = 3

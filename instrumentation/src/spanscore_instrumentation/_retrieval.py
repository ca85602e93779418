"""One search of a knowledge base: `retrieval`."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, ParamSpec, TypeVar, overload

from opentelemetry.trace import SpanKind

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._operation import Operation
from spanscore_instrumentation._quiet import quiet

P = ParamSpec("P")
R = TypeVar("R")


class Retrieval(Operation):
    """A search, with its query and the documents it found.

    Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#retrievals
    """

    __slots__ = ("_documents", "_query", "_top_k")

    operation = "retrieval"
    kind: ClassVar[SpanKind] = SpanKind.CLIENT

    def __init__(self, data_source: str | None = None, *, query: str | None = None, top_k: int | None = None) -> None:
        super().__init__(data_source)
        self._query = query
        self._top_k = top_k
        self._documents: list[object] = []

    def renewed(self, function_name: str) -> "Retrieval":
        name = function_name if self.name is None else self.name
        return Retrieval(name, query=self._query, top_k=self._top_k)

    def start_attributes(self) -> dict[str, Any]:
        return {names.DATA_SOURCE_ID: self.name, names.RETRIEVAL_TOP_K: self._top_k}

    def started(self) -> None:
        self.set_content(names.RETRIEVAL_QUERY_TEXT, self._query)

    def called(self, arguments: dict[str, Any]) -> None:
        if self._query is None and arguments:
            self.set_content(names.RETRIEVAL_QUERY_TEXT, arguments.get("query", next(iter(arguments.values()))))

    def yielded(self, value: object) -> None:
        self._documents.append(value)

    def returned(self, value: object) -> None:
        if isinstance(value, (list, tuple)):  # anything lazier belongs to the caller, who will consume it
            self.documents(value)

    def ending(self) -> None:
        if self._documents:
            self.documents(self._documents)

    @quiet
    def documents(self, found: Iterable[object]) -> None:
        """Record what was found, best first.

        Args:
            found: per document a mapping with `id`, `score` and `content` as far as they are known, or its text.
        """
        if self.is_recording:
            self._documents = []
            documents = [{"content": item} if isinstance(item, str) else item for item in found]
            self.set_content(names.RETRIEVAL_DOCUMENTS, documents)


@overload
def retrieval(data_source: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def retrieval(
    data_source: str | None = None, /, *, query: str | None = None, top_k: int | None = None
) -> Retrieval: ...
def retrieval(data_source: Any = None, /, **settings: Any) -> Any:
    """Trace one search of a knowledge base.

    As a decorator, bare or with settings, the data source is named after the function unless given; the argument
    `query` (or the first) is recorded as the query and a returned list as the documents.

    Args:
        data_source: the index, collection or service that is searched.
        query: the text that is looked for.
        top_k: how many documents were asked for [count].
    """
    return Retrieval()(data_source) if callable(data_source) else Retrieval(data_source, **settings)

"""One call of a language model: `chat` and its relatives."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from opentelemetry.trace import SpanKind

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._messages import to_parts
from spanscore_instrumentation._operation import Operation
from spanscore_instrumentation._quiet import quiet, report_once

Chunk = TypeVar("Chunk")


class LlmCall(Operation):
    """A request to a model, from the messages that went in to those that came out.

    Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#inference
    """

    __slots__ = ("_first_chunk_seen", "_messages", "_provider", "_request", "_system", "_texts", "_tools", "operation")

    kind: ClassVar[SpanKind] = SpanKind.CLIENT

    def __init__(
        self,
        provider: str,
        model: str | None = None,
        *,
        messages: object = None,
        system: object = None,
        tools: object = None,
        operation: str = "chat",
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
        stream: bool | None = None,
    ) -> None:
        super().__init__(model)
        self._provider = provider
        self.operation = operation
        self._messages = messages
        self._system = system
        self._tools = tools
        self._request = (temperature, top_p, max_tokens, seed, stream)
        self._texts: list[str] = []
        self._first_chunk_seen = False

    def renewed(self, function_name: str) -> "LlmCall":
        temperature, top_p, max_tokens, seed, stream = self._request
        return LlmCall(
            self._provider,
            self.name,
            messages=self._messages,
            system=self._system,
            tools=self._tools,
            operation=self.operation,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            seed=seed,
            stream=stream,
        )

    def start_attributes(self) -> dict[str, Any]:
        temperature, top_p, max_tokens, seed, stream = self._request
        return {
            names.PROVIDER_NAME: self._provider,
            names.REQUEST_MODEL: self.name,
            names.REQUEST_TEMPERATURE: float(temperature) if isinstance(temperature, int) else temperature,
            names.REQUEST_TOP_P: float(top_p) if isinstance(top_p, int) else top_p,
            names.REQUEST_MAX_TOKENS: max_tokens,
            names.REQUEST_SEED: seed,
            names.REQUEST_STREAM: stream,
        }

    def started(self) -> None:
        self.set_messages(names.INPUT_MESSAGES, self._messages, "user")
        self.set_content(names.SYSTEM_INSTRUCTIONS, to_parts(self._system) or None)
        self.set_content(names.TOOL_DEFINITIONS, self._tools)

    def called(self, arguments: dict[str, Any]) -> None:
        if self._messages is None:
            given = next((arguments[name] for name in ("messages", "prompt", "input") if name in arguments), None)
            if given is None and arguments:
                given = next(iter(arguments.values()))
            self.set_messages(names.INPUT_MESSAGES, given, "user")

    def returned(self, value: object) -> None:
        if isinstance(value, (str, dict, list)):  # a response object of a client library says more than a message
            self.output(value)

    def yielded(self, value: object) -> None:
        self.first_chunk()
        if isinstance(value, str):
            self._texts.append(value)

    def ending(self) -> None:
        if self._texts:
            self.output("".join(self._texts))

    # What the author of an agent says during the call.

    @quiet
    def output(self, messages: object) -> None:
        """Record what the model answered: a text, a message or messages."""
        if self.is_recording:
            self._texts = []
            self.set_messages(names.OUTPUT_MESSAGES, messages, "assistant")

    @quiet
    def usage(
        self,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cache_read_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        reasoning_tokens: int | None = None,
    ) -> None:
        """Record the tokens that the provider counted; leave out what it did not report, and 0 is a count.

        Args:
            input_tokens: of the prompt, those read from and written to a cache included [tokens]. Anthropic's API
                counts them apart: add them up.
            output_tokens: of the answer, reasoning included [tokens].
            cache_read_tokens: the part of the input that came from a cache [tokens].
            cache_write_tokens: the part of the input that was written to a cache [tokens].
            reasoning_tokens: the part of the output that was reasoning [tokens].
        """
        if self.is_recording:
            self.set_attributes(
                {
                    names.USAGE_INPUT_TOKENS: _count(input_tokens),
                    names.USAGE_OUTPUT_TOKENS: _count(output_tokens),
                    names.USAGE_CACHE_READ_TOKENS: _count(cache_read_tokens),
                    names.USAGE_CACHE_WRITE_TOKENS: _count(cache_write_tokens),
                    names.USAGE_REASONING_TOKENS: _count(reasoning_tokens),
                }
            )

    @quiet
    def response(
        self,
        *,
        id: str | None = None,  # noqa: A002 - the word of the conventions
        model: str | None = None,
        finish_reason: str | list[str] | None = None,
    ) -> None:
        """Record what the provider says about its response.

        Args:
            id: of the response; by it the same call is recognised where two instrumentations trace it.
            model: the model that answered, by which the call is priced.
            finish_reason: why it stopped, such as `stop`, `length`, `tool_calls`; a list where there were choices.
        """
        if self.is_recording:
            reasons = [finish_reason] if isinstance(finish_reason, str) else finish_reason
            self.set_attributes(
                {names.RESPONSE_ID: id, names.RESPONSE_MODEL: model, names.RESPONSE_FINISH_REASONS: reasons}
            )

    @quiet
    def first_chunk(self) -> None:
        """Record the time to the first chunk of a streamed answer; later calls do nothing."""
        if self.is_recording and not self._first_chunk_seen:
            self._first_chunk_seen = True
            self.set_attributes(
                {names.REQUEST_STREAM: True, names.RESPONSE_TIME_TO_FIRST_CHUNK: self.seconds_since_start()}
            )

    def stream(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The same chunks; the time to the first is recorded, and texts among them become the output."""
        for chunk in chunks:
            self._chunk(chunk)
            yield chunk

    async def astream(self, chunks: AsyncIterable[Chunk]) -> AsyncIterator[Chunk]:
        """The same chunks of an asynchronous stream, as `stream`."""
        async for chunk in chunks:
            self._chunk(chunk)
            yield chunk

    @quiet
    def _chunk(self, chunk: object) -> None:
        if self.is_recording:
            self.yielded(chunk)


def _count(tokens: Any) -> int | None:
    """A token count as the integer that the conventions ask for; None for what is none."""
    try:
        return None if tokens is None or isinstance(tokens, bool) else int(tokens)
    except (TypeError, ValueError, OverflowError):
        report_once("LlmCall.usage", "a token count is no number")
        return None


def llm_call(
    provider: str,
    model: str | None = None,
    /,
    *,
    messages: object = None,
    system: object = None,
    tools: object = None,
    operation: str = "chat",
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
    stream: bool | None = None,
) -> LlmCall:
    """Trace one call of a language model.

    As a decorator, the argument `messages`, `prompt` or `input` (else the first) is recorded as the input, a returned
    text or message as the output; a generator's texts are joined, and its first chunk is timed. Inside,
    `current(LlmCall)` gives the call, to report its usage.

    Args:
        provider: who serves the model, as the conventions spell it: `openai`, `anthropic`, `aws.bedrock`, `gcp.gemini`.
        model: the model that is asked for.
        messages: what goes in: a text, or messages as the APIs of OpenAI and Anthropic write them.
        system: system instructions that are given apart from the messages.
        tools: the definitions of the tools that the model may call.
        operation: `chat`, `text_completion`, `generate_content` or `embeddings`.
        temperature: as in the request.
        top_p: as in the request.
        max_tokens: as in the request [tokens].
        seed: as in the request.
        stream: whether the answer is streamed.
    """
    return LlmCall(
        provider,
        model,
        messages=messages,
        system=system,
        tools=tools,
        operation=operation,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        seed=seed,
        stream=stream,
    )

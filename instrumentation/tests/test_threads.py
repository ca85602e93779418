"""Work on other threads belongs to the operation that started it only where that was asked for."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import spanscore_instrumentation as si


def work(item):
    with si.tool(f"tool {item}"):
        return item


def test_in_current_context_carries_the_operation_to_a_pool(spans):
    with ThreadPoolExecutor(4) as pool, si.agent("a") as agent:
        assert sorted(pool.map(si.in_current_context(work), range(20))) == list(range(20))
        parent = agent.span.get_span_context().span_id

    tools = [s for s in spans() if s.name.startswith("execute_tool")]
    assert len(tools) == 20
    assert {s.parent.span_id for s in tools} == {parent}
    assert {s.attributes["gen_ai.agent.name"] for s in tools} == {"a"}


def test_a_copied_context_carries_it_too(spans):
    with ThreadPoolExecutor(1) as pool, si.agent("a"):
        pool.submit(copy_context().run, work, 1).result()

    assert spans()[0].parent.span_id == spans()[1].context.span_id


def test_threads_do_not_see_each_others_operations(spans):
    with ThreadPoolExecutor(4) as pool, si.agent("a"):
        list(pool.map(work, range(20)))

    tools = [s for s in spans() if s.name.startswith("execute_tool")]
    assert [s.parent for s in tools] == [None] * 20


def test_a_generator_may_move_between_threads(spans, caplog):
    @si.tool
    def items():
        with si.tool("inside"):
            yield 1
        yield 2

    generator = items()
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        assert one.submit(next, generator).result() == 1
        assert other.submit(next, generator).result() == 2
        assert other.submit(next, generator, "end").result() == "end"

    assert len(spans()) == 2
    assert not caplog.records

-- Nesting that an emitter lost: an agent span without children beside the very steps that ran during it is their parent;
-- a tool span without children beside the agent that ran during it, and is named after, started that agent. Of two that ran at
-- the very same time the tool is the parent.
create or replace temp table adoptions as
with childless as (
    select batch_spans.s, batch_spans.parent, batch_spans.trace_id, batch_spans.start_ns, batch_spans.end_ns, span_class.class,
        span_facts.tool_name, unwrapped_arguments(span_facts.tool_arguments) as arguments
    from batch_spans
    inner join span_class using (s)
    inner join span_facts using (s)
    where span_class.class in ('agent', 'tool') and batch_spans.parent is not null
        and batch_spans.s not in (select parent from batch_spans where parent is not null)
),
candidates as (
    select
        childless.s as parent,
        sibling.s,
        childless.class = 'tool' as is_started,
        childless.start_ns,
        childless.end_ns,
        sibling.start_ns = childless.start_ns and sibling.end_ns = childless.end_ns as is_same_time
    from childless
    inner join batch_spans as sibling
        on sibling.parent = childless.parent
        and sibling.s <> childless.s
        and sibling.start_ns >= childless.start_ns
        and sibling.end_ns <= childless.end_ns
    inner join span_class as sibling_class on sibling_class.s = sibling.s
    inner join span_facts as sibling_facts on sibling_facts.s = sibling.s
    where childless.class = 'agent' and sibling_class.class in ('node', 'llm', 'tool')
        or childless.class = 'tool' and sibling_class.class = 'agent'
        and asks_agent(childless.tool_name, childless.arguments, sibling_facts.agent_name)
)
select s, arg_max(parent, (start_ns, -end_ns::hugeint, -parent)) as parent
from candidates
-- Else an agent and the tool that started it might adopt each other.
where is_started or not is_same_time or s not in (select parent from candidates where is_started and is_same_time)
group by s;

update batch_spans
set parent = adoptions.parent
from adoptions
where adoptions.s = batch_spans.s;

-- Where each span hangs: the agent invocation it belongs to, the tool call it runs inside, the LLM span around it. One walk
-- from the roots down, a level at a time. An agent span directly inside an agent span of the same name is the same
-- invocation written twice; a tool call in between makes it a new one.
-- A span whose parent is not here starts a walk of its own, and so does the span that a cycle was opened at (`cycles`).
create or replace temp table span_tree as
with recursive named as (
    select
        batch_spans.s,
        batch_spans.parent,
        span_class.class,
        -- A call that asks an agent is that agent's invocation only where the agent left no span of its own.
        span_class.class = 'agent' or (span_class.class = 'tool' and span_facts.subagent_type is not null and batch_spans.s not in (
            select inside.parent
            from batch_spans as inside
            inner join span_class as inside_class on inside_class.s = inside.s
            where inside_class.class = 'agent' and inside.parent is not null
        )) as opens_agent,
        lower(coalesce(span_facts.agent_name, batch_spans.name)) as agent_key,
        span_facts.agent_call_id,
        span_facts.agent_name
    from batch_spans
    inner join span_class using (s)
    inner join span_facts using (s)
),
walk as (
    select
        s,
        s as root,
        0 as depth,
        null::integer as agent_above,
        null::integer as tool_above,
        null::integer as any_tool_above,
        null::integer as llm_above,
        null::integer as workflow_above,
        case when opens_agent then s end as agent,
        case when opens_agent then agent_key end as agent_key,
        case when opens_agent then agent_call_id end as agent_call_id,
        case when class = 'tool' and not opens_agent then s end as tool_inside,
        case when class = 'tool' then s end as any_tool,
        case when class = 'llm' then s end as llm,
        case when class = 'workflow' then s end as workflow,
        case when class in ('llm', 'tool', 'agent', 'workflow', 'retrieval') then s end as top,
        class = 'evaluator' as is_judged,
        agent_name
    from named
    where parent is null
    union all
    select
        child.s,
        walk.root,
        walk.depth + 1,
        walk.agent,
        walk.tool_inside,
        walk.any_tool,
        walk.llm,
        walk.workflow,
        case
            when not child.opens_agent then walk.agent
            when walk.tool_inside is null and walk.agent is not null
                and (child.agent_key = walk.agent_key or child.agent_call_id = walk.agent_call_id)
                and child.class = 'agent' then walk.agent
            else child.s
        end,
        case when child.opens_agent then child.agent_key else walk.agent_key end,
        case when child.opens_agent then child.agent_call_id else walk.agent_call_id end,
        case when child.opens_agent then null when child.class = 'tool' then child.s else walk.tool_inside end,
        case when child.class = 'tool' then child.s else walk.any_tool end,
        case
            when child.class = 'llm' then child.s
            when child.class in ('tool', 'agent', 'workflow') then null
            else walk.llm
        end,
        case when child.class = 'workflow' then child.s else walk.workflow end,
        case
            when walk.top is not null then walk.top
            when child.class in ('llm', 'tool', 'agent', 'workflow', 'retrieval') then child.s
        end,
        walk.is_judged or child.class = 'evaluator',
        coalesce(child.agent_name, walk.agent_name)
    from walk
    inner join named as child on child.parent = walk.s
    where walk.depth < 10000
)
select
    s, root, depth, agent_above, tool_above, any_tool_above, llm_above, workflow_above, agent, top,
    -- An attempt that the harness of a benchmark takes back, to make it again, is nobody's run.
    is_judged or s in (
        select batch_spans.s
        from batch_spans
        where batch_spans.trace_id in (
            select harness.trace_id
            from batch_spans as harness
            inner join span_facts using (s)
            where span_facts.trial_outcome = 'discarded'
        )
    ) as is_judged,
    agent_name as name_above
from walk;

-- Agent invocations: one per canonical agent span, and one where spans name an agent whose own span is not here (the root was
-- lost, or the emitter writes none): consecutive spans of one name are one invocation.
create or replace temp table agent_spans as
with recursive own as (
    select
        batch_spans.s as a,
        batch_spans.s,
        span_runs.run_id,
        span_tree.agent_above as parent_a,
        span_tree.tool_above as caller_tool,
        span_tree.workflow_above,
        case
            when span_class.class = 'tool' then span_facts.subagent_type
            else coalesce(
                span_facts.agent_name,
                case
                    when batch_spans.name like 'invoke\_agent %' escape '\' then substr(batch_spans.name, 14)
                    when span_class.convention in ('claude_code', 'haystack') then null
                    when span_class.convention = 'logfire' then span_facts.entity_name
                    when batch_spans.name like 'ai.%' or batch_spans.name in ('invoke_agent', 'agent run', 'Agent.run') then null
                    when span_facts.entity_name is not null then span_facts.entity_name
                    else regexp_replace(batch_spans.name, '(\.(run|agent|workflow|_execute_core|kickoff)|^agent )$', '')
                end
            )
        end as agent_name,
        span_facts.agent_id
    from span_tree
    inner join batch_spans using (s)
    inner join span_class using (s)
    inner join span_facts using (s)
    inner join span_runs using (s)
    where span_tree.agent = span_tree.s
),
-- An agent span without a call of its own, around other agents, in a run whose LLM calls are seen, is plumbing: a wrapper or
-- the graph that holds the agents.
calls as (
    select span_tree.agent as a, count(*) as n
    from span_tree
    inner join span_class using (s)
    where span_class.class in ('llm', 'tool', 'handoff', 'retrieval')
    group by span_tree.agent
),
seen as (
    select distinct span_runs.run_id
    from span_runs
    inner join span_class using (s)
    where span_class.class = 'llm'
),
plumbing as (
    select own.a
    from own
    inner join seen using (run_id)
    left join calls using (a)
    where calls.n is null and own.a in (select parent_a from own)
),
-- The nearest agent above that is no plumbing, and the tool call nearest on the way.
upward as (
    select a, parent_a, caller_tool, workflow_above
    from own
    union all
    select upward.a, above.parent_a, coalesce(upward.caller_tool, above.caller_tool),
        coalesce(upward.workflow_above, above.workflow_above, above.a)
    from upward
    inner join own as above on above.a = upward.parent_a
    where upward.parent_a in (select a from plumbing)
)
select
    own.a,
    own.s,
    own.run_id,
    upward.parent_a,
    upward.caller_tool,
    upward.workflow_above,
    own.agent_name,
    own.agent_id
from own
inner join upward on upward.a = own.a and (upward.parent_a is null or upward.parent_a not in (select a from plumbing))
where own.a not in (select a from plumbing);

create or replace temp table span_agents as
with inside as (
    select
        span_tree.s,
        span_runs.run_id,
        coalesce(
            case when span_tree.agent in (select a from agent_spans)
                then case when span_tree.agent = span_tree.s and span_class.class = 'tool' then span_tree.agent_above
                    else span_tree.agent end
            end
        ) as a,
        span_tree.name_above as named
    from span_tree
    inner join span_class using (s)
    inner join span_runs using (s)
    where span_class.class in ('llm', 'tool', 'handoff', 'retrieval', 'embedding')
),
islands as (
    select
        s,
        run_id,
        named,
        sum(is_first::integer) over (partition by run_id order by s) as island
    from (
        select
            s, run_id, named,
            named is distinct from lag(named) over (partition by run_id order by s) as is_first
        from inside
        where a is null and named is not null
    ) as marked
)
select
    inside.s,
    inside.run_id,
    coalesce(inside.a, -min(islands.s) over (partition by islands.run_id, islands.island)) as a,
    inside.named
from inside
left join islands using (s);

insert into agent_spans by name
select
    a,
    -a as s,
    any_value(run_id) as run_id,
    any_value(named) as agent_name
from span_agents
where a < 0
group by a;

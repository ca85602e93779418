-- Agent invocations: one per canonical agent span, and one where spans name an agent whose own span is not here (the root was
-- lost, or the emitter writes none): consecutive spans of one name are one invocation.
create or replace temp table agent_spans as
with own as (
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
-- A wrapper around exactly one other agent, without a call of its own, below another agent or workflow, is plumbing.
calls as (
    select span_tree.agent as a, count(*) as n
    from span_tree
    inner join span_class using (s)
    where span_class.class in ('llm', 'tool', 'handoff', 'retrieval')
    group by span_tree.agent
),
plumbing as (
    select own.a
    from own
    left join calls using (a)
    inner join own as child on child.parent_a = own.a
    where calls.n is null and (own.parent_a is not null or own.workflow_above is not null)
    group by own.a, own.agent_name
    having count(*) = 1 and bool_and(lower(child.agent_name) is distinct from lower(own.agent_name))
)
select
    own.a,
    own.s,
    own.run_id,
    case when own.parent_a in (select a from plumbing) then above.parent_a else own.parent_a end as parent_a,
    case when own.parent_a in (select a from plumbing) then above.caller_tool else own.caller_tool end as caller_tool,
    own.workflow_above,
    own.agent_name,
    own.agent_id
from own
left join own as above on above.a = own.parent_a
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
        coalesce(span_facts.agent_name, case when span_class.class = 'llm' then null end) as named
    from span_tree
    inner join span_class using (s)
    inner join span_facts using (s)
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

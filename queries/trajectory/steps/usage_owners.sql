-- Agents whose calls left no usage of their own: the outermost agent or workflow span that reports a total owns it. Totals on
-- spans above LLM calls that carry usage are a cross-check only, never a sum.
create or replace temp table agent_totals as
with reported as (
    select
        span_runs.run_id,
        batch_spans.s,
        span_tree.depth,
        span_agents_of.a,
        as_tokens(coalesce(span_facts.input_tokens, span_facts.reported_input_tokens, span_facts.total_input_tokens)) as input_tokens,
        as_tokens(coalesce(span_facts.output_tokens, span_facts.reported_output_tokens, span_facts.total_output_tokens))
            as output_tokens,
        as_tokens(coalesce(span_facts.cache_read_tokens, span_facts.total_cache_read_tokens)) as cache_read_tokens,
        as_tokens(coalesce(span_facts.reasoning_tokens, span_facts.total_reasoning_tokens)) as reasoning_tokens
    from batch_spans
    inner join span_class using (s)
    inner join span_runs using (s)
    inner join span_tree using (s)
    inner join span_facts using (s)
    left join (select s, a from agent_rows) as span_agents_of using (s)
    where span_class.class in ('agent', 'workflow') or span_class.class in ('node', 'other') and batch_spans.parent is null
),
priced as (
    select distinct run_id
    from batch_llm_calls
    where input_tokens is not null
)
select run_id, arg_min(reported, (depth, reported.s)) as total
from reported
where (input_tokens is not null or output_tokens is not null) and run_id not in (select run_id from priced)
group by run_id;

create or replace temp table reported_totals as
select
    span_runs.run_id,
    any_value(batch_spans.trace_id) as trace_id,
    arg_min(batch_spans.span_id, (span_tree.depth, batch_spans.s)) as span_id,
    arg_min(as_tokens(coalesce(span_facts.input_tokens, span_facts.reported_input_tokens)), (span_tree.depth, batch_spans.s))
        as input_tokens,
    arg_min(span_class.convention, (span_tree.depth, batch_spans.s)) as convention
from batch_spans
inner join span_class using (s)
inner join span_runs using (s)
inner join span_tree using (s)
inner join span_facts using (s)
where span_class.class in ('agent', 'workflow')
    and coalesce(span_facts.input_tokens, span_facts.reported_input_tokens) is not null
    and span_tree.depth = (select min(depth) from span_tree as top inner join span_runs as peers using (s)
        where peers.run_id = span_runs.run_id)
group by span_runs.run_id;

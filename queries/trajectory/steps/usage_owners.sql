-- Agents whose calls left no usage of their own: the outermost agent or workflow span that reports a total owns it. Totals on
-- spans above LLM calls that carry usage are a cross-check only, never a sum.
create or replace temp table agent_totals as
with reported as (
    select
        span_runs.run_id,
        batch_spans.s,
        span_tree.depth,
        span_agents_of.a,
        -- A crew adds up its agents' counters; agents that share a model share a counter, so the sum of several is no total.
        as_tokens(coalesce(span_facts.input_tokens, span_facts.reported_input_tokens,
            case when not is_shared then span_facts.total_input_tokens end)) as input_tokens,
        as_tokens(coalesce(span_facts.output_tokens, span_facts.reported_output_tokens,
            case when not is_shared then span_facts.total_output_tokens end)) as output_tokens,
        as_tokens(coalesce(span_facts.cache_read_tokens, case when not is_shared then span_facts.total_cache_read_tokens end)) as cache_read_tokens,
        as_tokens(coalesce(span_facts.reasoning_tokens, case when not is_shared then span_facts.total_reasoning_tokens end)) as reasoning_tokens
    from batch_spans
    inner join span_class using (s)
    inner join span_runs using (s)
    inner join span_tree using (s)
    inner join (
        select *, coalesce(json_array_length(as_json(crew_agents)), 0) > 1 as is_shared from span_facts
    ) as span_facts using (s)
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

-- The control total: what the topmost agent or workflow span reports, beside what its own calls and the whole run add up to.
-- Emitters whose totals grow over the turns of a session (Strands, smolagents) say nothing about one run.
create or replace temp table reported_totals as
with tops as (
    select
        span_runs.run_id,
        batch_spans.trace_id,
        batch_spans.span_id,
        batch_spans.s,
        as_tokens(coalesce(span_facts.input_tokens, span_facts.reported_input_tokens)) as input_tokens,
        row_number() over (partition by span_runs.run_id order by span_tree.depth, batch_spans.s) as nth
    from batch_spans
    inner join span_class using (s)
    inner join span_runs using (s)
    inner join span_tree using (s)
    inner join span_facts using (s)
    where span_class.class in ('agent', 'workflow')
        and coalesce(span_facts.input_tokens, span_facts.reported_input_tokens) is not null
        and not regexp_matches(batch_spans.scope_name, 'strands|smolagents')
)
select
    tops.run_id,
    tops.trace_id,
    tops.span_id,
    tops.input_tokens,
    sum(batch_llm_calls.input_tokens)::bigint as run_tokens,
    sum(batch_llm_calls.input_tokens) filter (where batch_llm_calls.a = tops.s)::bigint as own_tokens
from tops
inner join batch_llm_calls on batch_llm_calls.run_id = tops.run_id
where tops.nth = 1
group by tops.run_id, tops.trace_id, tops.span_id, tops.input_tokens;

-- One row per provider call. Where one LLM span lies inside another with no tool, agent or workflow between, both tell of the
-- same call: the inner one owns time, usage and model, the outer one fills what the inner one lacks.
create or replace temp table llm_spans as
with llm as (
    select
        batch_spans.s,
        batch_spans.group_id,
        batch_spans.start_ns,
        batch_spans.end_ns,
        batch_spans.scope_name,
        span_tree.llm_above,
        span_facts.response_id,
        coalesce(span_facts.input_tokens, span_facts.exclusive_input_tokens, span_facts.output_tokens) is not null as has_usage
    from batch_spans
    inner join span_class using (s)
    inner join span_tree using (s)
    inner join span_facts using (s)
    where span_class.class = 'llm' and not span_tree.is_judged
),
children as (
    select llm_above as s, count(*) as n
    from llm
    where llm_above is not null
    group by llm_above
),
leaves as (
    select
        llm.*,
        case when above_children.n = 1 then llm.llm_above end as wrapper,
        case when above_children.n = 1 and outer_children.n = 1 then above.llm_above end as outer_wrapper
    from llm
    left join llm as above on above.s = llm.llm_above
    left join children as above_children on above_children.s = llm.llm_above
    left join children as outer_children on outer_children.s = above.llm_above
    where llm.s not in (select s from children)
),
-- Two instrumentations side by side: the same response id, overlapping in time, from two scopes.
twins as (
    select later.s
    from leaves as later
    inner join leaves as kept
        on kept.group_id = later.group_id
        and kept.response_id = later.response_id
        and kept.scope_name <> later.scope_name
        and kept.start_ns < later.end_ns
        and later.start_ns < kept.end_ns
        and (kept.has_usage, later.start_ns, later.s) > (later.has_usage, kept.start_ns, kept.s)
)
select * from leaves where s not in (select s from twins);

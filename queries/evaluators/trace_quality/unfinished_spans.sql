-- /// evaluator
-- id = "unfinished_spans"
-- title = "Spans that have no end"
-- grain = "run"
-- unit = "count"
-- better = "lower"
-- ///
--
-- Spans that were exported before they ended, or whose process died. The run has no duration then, and what they would have said
-- at their end is missing. NULL: the spans of the run were not counted.
with found as (
    select run_id, count(*) as n, list(span_id order by span_id) filter (where span_id is not null) as spans
    from findings
    where kind = 'unfinished_span'
    group by run_id
)
select
    runs.run_id,
    case when runs.spans is not null or found.n > 0 then coalesce(found.n, 0)::double end as score_value,
    case when runs.spans is null and found.n is null then 'not_counted' end as not_applicable_reason,
    case
        when found.n > 0 then format('{} of {} have no end.', found.n, coalesce(things(runs.spans, 'span'), 'the spans'))
        when runs.spans is not null
            then if(runs.spans = 1, 'The span has an end.', format('All {} spans have an end.', runs.spans))
    end as explanation,
    case when found.n > 0 then to_json({'spans': found.spans}) end as evidence
from runs
left join found using (run_id);

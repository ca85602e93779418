-- /// evaluator
-- id = "unrecognised_spans"
-- title = "Spans that say nothing that is known about agents"
-- grain = "run"
-- unit = "count"
-- better = "lower"
-- ///
--
-- Spans of HTTP clients and databases among the agent's are normal. Where nearly all spans are such, or a scope that should be an
-- agent's, the emitter speaks a dialect that is not known here and the other figures are too low: the evidence names the scopes.
-- A trace of several runs counts its unrecognised spans at one of them. NULL: the spans of the run were not counted.
with found as (
    select
        run_id,
        sum(coalesce(try_cast(regexp_extract(detail, '^(\d+) ', 1) as bigint), 1))::bigint as n,
        list(detail order by detail) as details
    from findings
    where kind = 'unrecognised_spans'
    group by run_id
)
select
    runs.run_id,
    case when runs.spans is not null or found.n > 0 then coalesce(found.n, 0)::double end as score_value,
    case when runs.spans is null and found.n is null then 'not_counted' end as not_applicable_reason,
    case
        when found.n > 0 then format('{} of {} are not recognised.', found.n, coalesce(things(runs.spans, 'span'), 'the spans'))
        when runs.spans is not null
            then if(runs.spans = 1, 'The span is recognised.', format('All {} spans are recognised.', runs.spans))
    end as explanation,
    case when found.n > 0 then to_json({'scopes': found.details}) end as evidence
from runs
left join found using (run_id);

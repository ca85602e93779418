-- /// evaluator
-- id = "run_duration"
-- title = "Time that the run took"
-- grain = "run"
-- unit = "s"
-- better = "lower"
-- ///
--
-- From the start of the first span to the end of the last one. NULL: a span has no
-- end, no start, or an end before its start. Not to be
-- trusted where spans are still to come (`orphan_spans`), or where services with different clocks wrote the trace.
select
    run_id,
    duration_s as score_value,
    case when duration_s is null
        then if(coalesce(status, 'running') = 'running', 'not_finished', 'unusable_times') end as not_applicable_reason,
    case when duration_s is not null then format('{:.3f} s.', duration_s) end as explanation
from runs;

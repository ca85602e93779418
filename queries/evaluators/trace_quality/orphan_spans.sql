-- /// evaluator
-- id = "orphan_spans"
-- title = "Spans whose parent is not in the store"
-- grain = "run"
-- unit = "count"
-- better = "lower"
-- ///
--
-- Spans that name a parent which never arrived: it was sampled away, lost, not exported yet, or belongs to a service that does
-- not send its traces here. They count in every other figure; what hangs on the missing parent (the answer, the duration) may
-- not. NULL: the spans of the run were not counted.
select
    run_id,
    orphan_spans::double as score_value,
    case when orphan_spans is null then 'not_counted' end as not_applicable_reason,
    case when orphan_spans is not null
       
            then format('{} {} a parent that is not in the store.', things(orphan_spans, 'span'),
                if(orphan_spans = 1, 'has', 'have')) end as explanation
from runs;

-- What breaks the contract in the rows that evaluators gave: the kind, how many rows, and one of the subjects.
with facts as (
    select
        outcomes.evaluator_index,
        outcomes.run_id,
        case evaluated.grain when 'run' then outcomes.run_id else outcomes.subject_id end as subject_id,
        outcomes.score_value,
        outcomes.not_applicable_reason,
        evaluated.unit,
        case evaluated.grain
            when 'session' then outcomes.subject_id in (select session_id from run_scope where session_id is not null)
            else run_scope.run_id is not null
        end as is_in_scope,
        case evaluated.grain
            when 'run' then outcomes.run_id is null
            when 'session' then outcomes.subject_id is null
            else outcomes.run_id is null or outcomes.subject_id is null
        end as is_keyless
    from outcomes
    inner join evaluated using (evaluator_index)
    left join run_scope on run_scope.run_id = outcomes.run_id
),
found as (
    select evaluator_index, 'keyless' as kind, subject_id from facts where is_keyless
    union all
    select evaluator_index, 'out_of_scope', coalesce(run_id, subject_id) from facts where not is_keyless and not is_in_scope
    union all
    select evaluator_index, 'not_finite', subject_id from facts where not isfinite(score_value)
    union all
    select evaluator_index, 'no_reason', subject_id from facts
    where score_value is null and coalesce(trim(not_applicable_reason), '') = ''
    union all
    select evaluator_index, 'needless_reason', subject_id from facts
    where score_value is not null and not_applicable_reason is not null
    union all
    select evaluator_index, 'not_boolean', subject_id from facts where unit = 'boolean' and score_value not in (0, 1)
    union all
    -- What rounding adds to a sum of shares is no mistake.
    select evaluator_index, 'not_ratio', subject_id from facts
    where unit = 'ratio' and isfinite(score_value) and score_value not between -1e-9 and 1 + 1e-9
    union all
    select evaluator_index, 'repeated', subject_id from facts
    group by evaluator_index, run_id, subject_id
    having count(*) > 1
)
select evaluator_index, kind, count(*) as n, min(subject_id) as example
from found
group by evaluator_index, kind
order by evaluator_index, n desc, kind;

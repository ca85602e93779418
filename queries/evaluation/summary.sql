-- Per evaluator: subjects, scores, their mean, and how many were not applicable for which reason.
with reasons as (
    select evaluator_index, not_applicable_reason, count(*) as n
    from outcomes
    where score_value is null
    group by evaluator_index, not_applicable_reason
)
select
    outcomes.evaluator_index,
    count(*) as n_rows,
    count(outcomes.score_value) as n_scored,
    -- In the order of the values: the last digit of a sum depends on its order, and a rebuild changes that of the rows.
    list_avg(list_sort(list(outcomes.score_value))) as mean,
    (select to_json(map_from_entries(list((not_applicable_reason, n) order by n desc, not_applicable_reason)))
        from reasons where reasons.evaluator_index = outcomes.evaluator_index)::varchar as not_applicable
from outcomes
group by outcomes.evaluator_index;

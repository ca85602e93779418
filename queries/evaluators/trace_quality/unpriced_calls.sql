-- /// evaluator
-- id = "unpriced_calls"
-- title = "LLM calls that have no price"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- ///
--
-- Counts calls that did not fail and whose cost is not known: no price for the model, or no usage. They are missing in `cost`. A
-- call that costs 0 has a price. NULL: no LLM call that did not fail.
with calls as (
    select
        run_id,
        count(*) as n,
        count(*) filter (where cost_usd is null) as unpriced,
        list(distinct coalesce(response_model, request_model, '(no model)')
            order by coalesce(response_model, request_model, '(no model)')) filter (where cost_usd is null) as models,
        list(distinct unpriced_reason order by unpriced_reason) filter (where cost_usd is null and unpriced_reason is not null)
            as reasons
    from llm_calls
    where status is distinct from 'error'
    group by run_id
)
select
    runs.run_id,
    calls.unpriced::double as score_value,
    case when calls.n is null then no_working_call_reason(runs.run_id) end as not_applicable_reason,
    case
        when calls.unpriced > 0
            then format('{} of {} have no price: {}.', calls.unpriced, things(calls.n, 'LLM call'), name_list(calls.models))
        when calls.n > 0 then if(calls.n = 1, 'The LLM call has a price.', format('All {} LLM calls have a price.', calls.n))
    end as explanation,
    case when calls.unpriced > 0 then to_json({'models': calls.models, 'reasons': coalesce(calls.reasons, [])}) end as evidence
from runs
left join calls using (run_id);

-- /// evaluator
-- id = "cost"
-- title = "Price of the run's LLM calls"
-- grain = "run"
-- unit = "usd"
-- better = "lower"
-- needs = ["token_usage"]
-- ///
--
-- Each call at the price of its model at its own time. A call without a known price or without usage is not 0: the sum is that of
-- the others, a lower bound, and the explanation says how many are missing. A model whose price is 0 costs 0. NULL: no call has a
-- price. What the emitter itself reports is not used. Tools and retrieval are not in it.
with missing as (
    select
        run_id,
        count(*) as n,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))::bigint as tokens,
        list(distinct coalesce(response_model, request_model, '(no model)')
            order by coalesce(response_model, request_model, '(no model)')) as models
    from llm_calls
    where cost_usd is null and status is distinct from 'error'
    group by run_id
)
select
    runs.run_id,
    runs.cost_usd as score_value,
    case
        when runs.cost_usd is not null then null
        when coalesce(runs.llm_calls, 0) = 0 then 'no_llm_calls'
        when runs.input_tokens is null and runs.output_tokens is null then no_usage_reason(usage)
        else 'no_price'
    end as not_applicable_reason,
    case when runs.cost_usd is not null then format('${:.6f}{}.', runs.cost_usd, case when missing.n > 0 then format(
        ' plus {} ({})', things(missing.n, 'unpriced call'), things(missing.tokens, 'token')) else '' end)
    end as explanation,
    case when missing.n > 0 then to_json({'unpriced_calls': missing.n, 'tokens': missing.tokens, 'models': missing.models}) end
        as evidence
from runs
left join missing using (run_id)
left join (from run_usage()) as usage using (run_id);

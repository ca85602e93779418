-- Which calls have no price, and why?
--
-- Prices of your own go into a file: docs/prices.md.
--
-- Columns: provider; model; reason; calls [count]; tokens [tokens, where known].
select
    provider,
    coalesce(response_model, request_model) as model,
    unpriced_reason as reason,
    count(*) as calls,
    sum(input_tokens + output_tokens)::bigint as tokens
from llm_calls
where cost_usd is null
group by all
order by calls desc, model, reason

-- Per model, as the provider named it in its answer (else as it was asked for): calls, tokens, cost, speed.
-- A call without a known price is counted in `unpriced_llm_calls` and adds nothing to `cost_usd`.
select
    coalesce(response_model, request_model) as model,
    any_value(provider) as provider,
    count(*) as llm_calls,
    count(*) filter (where status = 'error') as errors,
    sum(input_tokens)::bigint as input_tokens,
    sum(cache_read_tokens)::bigint as cache_read_tokens,
    sum(output_tokens)::bigint as output_tokens,
    sum(reasoning_tokens)::bigint as reasoning_tokens,
    list_sum(list_sort(list(cost_usd))) as cost_usd,
    count(*) filter (where cost_usd is null) as unpriced_llm_calls,
    quantile_cont(duration_s, 0.5) as median_s,
    quantile_disc(duration_s, 0.95) as p95_s
from llm_calls
group by model
order by llm_calls desc, model nulls last

-- How much of what goes to each model comes from its cache?
--
-- Over the calls that say how many cached tokens they read; input tokens include them.
--
-- Columns: provider; model; calls [count]; input_tokens [tokens]; cache_read_tokens [tokens]; hit_rate (0 to 1).
select
    provider,
    coalesce(response_model, request_model) as model,
    count(*) as calls,
    sum(input_tokens)::bigint as input_tokens,
    sum(cache_read_tokens)::bigint as cache_read_tokens,
    round(safe_ratio(sum(cache_read_tokens), sum(input_tokens)), 4) as hit_rate
from llm_calls
where cache_read_tokens is not null and input_tokens is not null
group by all
order by hit_rate desc nulls last, model

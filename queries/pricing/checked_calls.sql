-- Models of the calls in `priced_calls`: how many calls are priced, with what, and why the others are not.
-- tokens is input plus output [tokens] as far as reported. cost_usd [USD] is NULL where no call of the row is priced.
select
    calls.provider,
    calls.request_model,
    calls.response_model,
    priced.price_provider_id,
    priced.price_model_id,
    priced.price_matched_by,
    priced.unpriced_reason,
    count(*) as llm_calls,
    sum(coalesce(calls.input_tokens, 0)::hugeint + coalesce(calls.output_tokens, 0)) as tokens,
    sum(priced.cost_usd) as cost_usd
from priced_calls as priced
join calls_to_price as calls using (llm_call_id)
group by
    calls.provider,
    calls.request_model,
    calls.response_model,
    priced.price_provider_id,
    priced.price_model_id,
    priced.price_matched_by,
    priced.unpriced_reason
order by priced.unpriced_reason is null, llm_calls desc, calls.provider, calls.request_model, calls.response_model

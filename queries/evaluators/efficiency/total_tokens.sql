-- /// evaluator
-- id = "total_tokens"
-- title = "Tokens that the run used, input and output"
-- grain = "run"
-- unit = "tokens"
-- better = "lower"
-- needs = ["token_usage"]
-- ///
--
-- Every provider call counts once, however many instrumentations or levels of the trace report it; cached tokens are part of the
-- input, reasoning tokens part of the output. Where some calls report no usage the sum is that of the others, a lower bound, and
-- the explanation says so. NULL: no call reports usage. Totals that agents report are only compared (`usage_mismatch`).
with reported as (
    select run_id, count(*) filter (where status is distinct from 'error') as calls,
        count(*) filter (where status is distinct from 'error' and input_tokens is null and output_tokens is null) as silent
    from llm_calls
    group by run_id
)
select
    runs.run_id,
    case when runs.input_tokens is not null or runs.output_tokens is not null
        then (coalesce(runs.input_tokens, 0) + coalesce(runs.output_tokens, 0))::double end as score_value,
    case when runs.input_tokens is null and runs.output_tokens is null then no_usage_reason(usage) end as not_applicable_reason,
    case when runs.input_tokens is not null or runs.output_tokens is not null then format('{} input and {}{}.',
        coalesce(runs.input_tokens::varchar, 'unknown'),
        coalesce(things(runs.output_tokens, 'output token'), 'unknown output tokens'),
        case when reported.silent > 0
            then format('; {} of {} report none{}', reported.silent, things(reported.calls, 'LLM call'),
                if(usage.unusable > 0, ' that can be', '')) else '' end) end as explanation,
    case when reported.silent > 0 and (runs.input_tokens is not null or runs.output_tokens is not null)
        then to_json({'calls_without_usage': reported.silent}) end as evidence
from runs
left join reported using (run_id)
left join (from run_usage()) as usage using (run_id);

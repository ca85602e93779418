-- /// evaluator
-- id = "cache_hit_rate"
-- title = "Share of the input tokens that were read from a cache"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["token_usage"]
-- ///
--
-- Over the LLM calls that report both figures; input tokens are counted with the cached ones in them. A reported 0 is a miss; a
-- call that says nothing of a cache counts neither way. NULL: no call reports them, or none has input.
with reported as (
    select run_id, count(*) as calls, sum(cache_read_tokens)::bigint as cached, sum(input_tokens)::bigint as input
    from llm_calls
    where cache_read_tokens is not null and input_tokens is not null
    group by run_id
)
select
    runs.run_id,
    -- LEAST passes over NULL.
    case when reported.input > 0 then least(1, safe_ratio(reported.cached, reported.input)) end as score_value,
    case
        when reported.input > 0 then null
        when runs.input_tokens is null then no_usage_reason(usage)
        when runs.run_id in (select run_id from llm_calls where list_contains(unusable_columns, 'cache_read_tokens'))
            then 'unusable_cache_usage'
        else 'no_cache_usage'
    end as not_applicable_reason,
    case when reported.input > 0
       
            then format('{} of {} over {}.', reported.cached, things(reported.input, 'input token'),
            things(reported.calls, 'LLM call')) end
        as explanation
from runs
left join reported using (run_id)
left join (from run_usage()) as usage using (run_id);

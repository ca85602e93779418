-- /// evaluator
-- id = "usage_mismatch"
-- title = "Whether the tokens that an agent reports differ from those of its LLM calls"
-- grain = "run"
-- unit = "boolean"
-- better = "lower"
-- needs = ["token_usage"]
-- ///
--
-- Some emitters write a total on the span of the agent. It is never added to the usage of the calls; where it differs from their
-- sum by more than 1%, calls are missing from the trace (lost, sampled away, not instrumented) or cached tokens were counted
-- another way. 0 where no difference was found, also when no total was reported. NULL: no LLM call reports usage.
with found as (
    select run_id, count(*) as n, string_agg(detail, '; ' order by span_id) as details, list(span_id order by span_id) as spans
    from findings
    where kind = 'usage_mismatch'
    group by run_id
)
select
    runs.run_id,
    case
        when found.n > 0 then 1
        when runs.input_tokens is not null or runs.output_tokens is not null then 0
    end::double as score_value,
    case when found.n is null and runs.input_tokens is null and runs.output_tokens is null then no_usage_reason(usage) end
        as not_applicable_reason,
    case when found.n > 0 then found.details || '.'
        when runs.input_tokens is not null or runs.output_tokens is not null then 'No difference was found.' end as explanation,
    case when found.n > 0 then to_json({'spans': found.spans}) end as evidence
from runs
left join found using (run_id)
left join (from run_usage()) as usage using (run_id);

-- Which runs cost most, and on what?
--
-- Columns: run_id; started_at [UTC]; question; cost_usd [USD]; unpriced_llm_calls [count]; llm_calls [count];
-- input_tokens [tokens]; output_tokens [tokens].
select
    run_id,
    started_at,
    question[:80] as question,
    cost_usd,
    unpriced_llm_calls,
    llm_calls,
    input_tokens,
    output_tokens
from runs
where cost_usd is not null
order by cost_usd desc, run_id
limit 20

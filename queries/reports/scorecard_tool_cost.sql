-- What LLM calls cost that asked for tools, and what all cost [USD]; NULL where no call has a price.
with asking as (
    select run_id, llm_call_id from tool_calls
    union
    select run_id, llm_call_id from tool_requests
)
select
    sum(llm_calls.cost_usd) filter (where asking.llm_call_id is not null) as asking_usd,
    sum(llm_calls.cost_usd) as total_usd
from llm_calls
left join asking using (run_id, llm_call_id)

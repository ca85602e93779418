-- What LLM calls cost that asked for tools, and what all cost [USD]; NULL where no call has a price. Sums are taken in the order of the
-- values: the last digit depends on it, and a rebuild changes the order of the rows.
with asking as (
    select run_id, llm_call_id from tool_calls
    union
    select run_id, llm_call_id from tool_requests
)
select
    list_sum(list_sort(list(llm_calls.cost_usd) filter (where asking.llm_call_id is not null))) as asking_usd,
    list_sum(list_sort(list(llm_calls.cost_usd))) as total_usd
from llm_calls
left join asking using (run_id, llm_call_id)

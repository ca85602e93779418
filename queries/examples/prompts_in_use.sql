-- Which system prompts does each agent have, and since when?
--
-- Two rows of one agent mean that its prompt changed, or that it depends on something.
--
-- Columns: agent_name; prompt_md5; first_seen and last_seen [UTC]; runs [count]; prompt (its beginning).
select
    llm_calls.agent_name,
    md5(messages.text) as prompt_md5,
    min(llm_calls.started_at) as first_seen,
    max(llm_calls.started_at) as last_seen,
    count(distinct llm_calls.run_id) as runs,
    any_value(messages.text)[:80] as prompt
from messages
inner join llm_calls using (run_id, llm_call_id)
where messages.role = 'system' and messages.text is not null
group by llm_calls.agent_name, md5(messages.text)
order by llm_calls.agent_name, first_seen, prompt_md5

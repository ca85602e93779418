-- Which errors do tools give, and how often?
--
-- Digits are masked, so that messages that differ in an id alone are one.
--
-- Columns: tool_name; error_type; message; errors [count]; runs [count]; example_run_id.
select
    tool_name,
    error_type,
    regexp_replace(error_message, '\d+', '#', 'g')[:200] as message,
    count(*) as errors,
    count(distinct run_id) as runs,
    min(run_id) as example_run_id
from tool_calls
where status = 'error'
group by all
order by errors desc, tool_name, message

-- Which conversations take more tokens and more time at their end than at their beginning?
--
-- The first and the last run of each session with more than one.
--
-- Columns: session_id; turns [count]; first_tokens and last_tokens [tokens]; first_s and last_s [s]; times_the_tokens.
select
    session_id,
    count(*) as turns,
    arg_min(input_tokens + output_tokens, (started_at, run_id)) as first_tokens,
    arg_max(input_tokens + output_tokens, (started_at, run_id)) as last_tokens,
    arg_min(duration_s, (started_at, run_id)) as first_s,
    arg_max(duration_s, (started_at, run_id)) as last_s,
    round(safe_ratio(last_tokens, first_tokens), 2) as times_the_tokens
from runs
where session_id is not null
group by session_id
having count(*) > 1
order by times_the_tokens desc nulls last, session_id

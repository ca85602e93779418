-- /// evaluator
-- id = "handoff_context_kept"
-- title = "Share of the question's words that reached the agent that took over"
-- grain = "handoff"
-- unit = "ratio"
-- better = "higher"
-- needs = ["content"]
--
-- [params.min_characters]
-- type = "BIGINT"
-- unit = "count"
-- default = 4
-- doc = "Words of the question with fewer characters do not count; numbers always do."
-- ///
--
-- The words and numbers of what the user asked are looked for in what the receiver was given: its input and the messages of its
-- first LLM call, in lower case and as whole words. A receiver that gets the conversation has 1; one that gets a summary without
-- the order number has less. NULL: delegations, which pass on a part of the task by nature; agents of one workflow that follow
-- each other; returns; receivers that never started; texts that were not captured. Not to be trusted where a handoff translates.
with taken as (
    select handoffs.*, runs.question
    from handoffs
    inner join runs using (run_id)
    where handoffs.to_invocation_id is not null and coalesce(handoffs.mode, '') = 'pass_control'
        and not coalesce(handoffs.is_back, false)
),
first_calls as (
    select run_id, agent_invocation_id, arg_min(llm_call_id, seq) as llm_call_id
    from llm_calls
    where (run_id, agent_invocation_id) in (select (run_id, to_invocation_id) from taken)
    group by run_id, agent_invocation_id
),
told as (
    select run_id, llm_call_id, string_agg(concat_ws(' ', text, response, arguments), ' ') as text
    from messages
    where direction in ('input', 'system') and (run_id, llm_call_id) in (select (run_id, llm_call_id) from first_calls)
    group by run_id, llm_call_id
),
given as (
    select
        taken.handoff_id,
        taken.run_id,
        nullif(trim(concat_ws(' ', agent_invocations.input_text, told.text)), '') as received,
        list_distinct(list_filter(
            regexp_extract_all(lower(taken.question), '[\pL\pN]+(?:[.,''’-][\pL\pN]+)*'),
            lambda word: length(word) >= $min_characters or regexp_matches(word, '\d')
        )) as words
    from taken
    left join agent_invocations on agent_invocations.run_id = taken.run_id
        and agent_invocations.agent_invocation_id = taken.to_invocation_id
    left join first_calls on first_calls.run_id = taken.run_id and first_calls.agent_invocation_id = taken.to_invocation_id
    left join told on told.run_id = taken.run_id and told.llm_call_id = first_calls.llm_call_id
),
compared as (
    select
        *,
        regexp_extract_all(lower(received), '[\pL\pN]+(?:[.,''’-][\pL\pN]+)*') as received_words
    from given
),
judged as (
    select
        handoffs.run_id, handoffs.handoff_id, handoffs.from_agent, handoffs.to_agent, compared.words,
        list_filter(compared.words, lambda word: not list_contains(compared.received_words, word)) as missing,
        case
            when handoffs.mode = 'sequence' then 'sequence_of_workflow'
            when handoffs.mode = 'return_to_caller' then 'delegation'
            when coalesce(handoffs.is_back, false) then 'return'
            when handoffs.to_invocation_id is null then 'not_started'
            when compared.received is null or compared.words is null then 'content_not_captured'
            when len(compared.words) = 0 then 'no_words'
        end as reason
    from handoffs
    left join compared using (run_id, handoff_id)
)
select
    run_id,
    handoff_id,
    from_agent as agent_name,
    case when reason is null then 1 - safe_ratio(len(missing), len(words)) end as score_value,
    reason as not_applicable_reason,
    case when reason is null
        then format('{} of {} of the question reached {}.', len(words) - len(missing), things(len(words), 'word'),
        coalesce(to_agent, 'the receiver')) end as explanation,
    case when reason is null and len(missing) > 0 then to_json({'missing': list_sort(missing)}) end as evidence
from judged;

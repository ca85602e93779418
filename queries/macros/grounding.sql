-- What an answer can have its facts from, for the evaluators of groundedness.

-- was_cut: a result that lost its end on the way: JSON with brackets left open, or a mark that says so.
create or replace temp macro was_cut(value) as
    regexp_matches(left(value, 8), '^(?:\{\s*["'']|\[\s*[{\["''])') and not regexp_matches(right(value, 8), '[\]}]\s*$')
        and length(translate(value, '}]', '')) > length(translate(value, '{[', ''))
    or contains(lower(right(value, 60)), 'truncated') and regexp_matches(right(value, 60), '(?i)\btruncated\b.{0,30}$');

-- modelled_runs: runs in which the messages of some model call were captured, as (run_id).
create or replace temp macro modelled_runs() as table
    select distinct run_id
    from messages
    where llm_call_id is not null;

-- first_inputs: the messages that the first model of each wanted run was handed, as (run_id, role, part_type, text, response,
-- tool_call_id): the question and the conversation before it. Later inputs repeat what the run itself produced. Where no
-- model's messages were captured, those of the only agent are read. `wanted` is a list of run ids: that way DuckDB reads the
-- texts past a small table of runs instead of holding all of them.
create or replace temp macro first_inputs(wanted) as table
    with wanted_runs as (
        select distinct unnest(wanted) as run_id
    ),
    first_calls as (
        select run_id, llm_call_id from wanted_runs inner join llm_calls using (run_id) where llm_calls.seq = 1
        union all
        select run_id, null
        from wanted_runs
        inner join runs using (run_id)
        anti join (from modelled_runs()) as modelled using (run_id)
        where runs.agent_invocations < 2
    )
    select distinct messages.run_id, messages.role, messages.part_type, messages.text, messages.response, messages.tool_call_id
    from messages
    inner join first_calls on first_calls.run_id = messages.run_id
        and first_calls.llm_call_id is not distinct from messages.llm_call_id
    where messages.direction = 'input' and messages.part_type in ('text', 'tool_call_response');

-- work_results: what the tools of the runs gave back, as (run_id, text): results, or the words of an error. The answer of
-- another agent is none, its tools' are; where nothing of that agent was traced, its answer is all there is.
create or replace temp macro work_results() as table
    select run_id, coalesce(result, error_message) as text
    from tool_calls
    where not coalesce(is_handoff, false)
        and (not coalesce(is_agent_tool, false) or run_id in (select run_id from runs where agent_invocations < 2))
        and coalesce(result, error_message) is not null
    union all
    select run_id, documents::varchar
    from retrievals
    where documents is not null;

-- retrieved_texts: where the links stand that tools fetched or gave back in the runs, as (run_id, text).
create or replace temp macro retrieved_texts() as table
    from work_results()
    union all
    select run_id, arguments::varchar
    from tool_calls
    where status = 'ok' and not coalesce(is_handoff, false) and not coalesce(is_agent_tool, false);

-- run_sources: the texts that stand behind the answers of the wanted runs (a list of run ids), as (run_id, kind, text). Kinds:
--   tool      results of tools and retrieved documents, of the run and of earlier turns: those that its first model was
--             handed, else those of the ten runs before it in its session (of one service and, in a benchmark, one trial)
--   question  what the user said, in this turn and before
--   history   earlier answers, but only where the conversation was handed on without its results
--   given     system instructions
-- What the model says in the run itself is never a source, nor are the arguments that it gives to tools.
create or replace temp macro run_sources(wanted) as table
    with wanted_runs as (
        select distinct unnest(wanted) as run_id
    ),
    handed as (
        from first_inputs(wanted)
    ),
    told as (
        select handed.run_id, handed.response as text
        from handed
        anti join tool_calls using (run_id, tool_call_id)
        where handed.response is not null and handed.tool_call_id is not null
    ),
    working_runs as (
        select run_id, run_id as working_run_id from wanted_runs
        union all
        select run_id, unnest(earlier)
        from (
            select run_id, list(run_id) over (
                partition by session_id, service_name, experiment_id, case_id, trial
                order by started_at, run_id
                rows between 10 preceding and 1 preceding
            ) as earlier
            from runs
            where session_id is not null
        )
        where run_id in (select run_id from wanted_runs) and run_id not in (select run_id from told)
    )
    select working_runs.run_id, 'tool' as kind, results.text
    from (from work_results()) as results
    inner join working_runs on working_runs.working_run_id = results.run_id
    union all
    select run_id, 'tool', text from told
    union all
    select run_id, 'question', text
    from (
        select run_id, question as text from runs where question is not null and run_id in (select run_id from wanted_runs)
        union
        select run_id, text from handed where role = 'user' and text is not null
    )
    union all
    select run_id, 'history', text
    from handed
    where role = 'assistant' and text is not null and run_id not in (select run_id from told)
    union all
    select distinct run_id, 'given', text
    from messages
    where role = 'system' and part_type = 'text' and text is not null and run_id in (select run_id from wanted_runs);

-- missing_sources: runs whose sources are not all known, as (run_id, reason): a tool ran and its result was not captured or
-- was cut, a request shows no result, a search shows no documents; or no model's messages were captured, so that what was
-- asked is unknown.
create or replace temp macro missing_sources() as table
    select run_id, min(reason) as reason
    from (
        select run_id, 'tool_results_not_captured' as reason
        from tool_calls
        where not coalesce(is_handoff, false)
            and not coalesce(is_agent_tool, false)
            and (result is null and coalesce(status, 'ok') = 'ok' or was_cut(result))
        union all
        select run_id, 'tool_results_not_captured'
        from tool_requests
        where outcome = 'no_result' and not coalesce(is_handoff, false)
        union all
        select run_id, 'tool_results_not_captured'
        from retrievals
        where documents is null and status is distinct from 'error'
        union all
        select run_id, 'question_not_captured'
        from runs
        anti join (from modelled_runs()) as modelled using (run_id)
        where question is null and llm_calls > 0
    )
    group by run_id;

-- ungroundable: why the answer of a run cannot be compared with its sources; NULL when it can. `missing` is the run's reason
-- in `missing_sources`; a question that is unknown does not matter where it is no source.
create or replace temp macro ungroundable(run, claims, missing, is_strict) as
    case
        when run.final_answer is null then if(coalesce(run.has_content, false), 'no_answer', 'content_not_captured')
        when coalesce(claims, 0) = 0 then 'no_claims'
        when missing = 'question_not_captured' then if(is_strict, null, 'content_not_captured')
        else missing
    end;

-- What an answer can have its facts from, for the evaluators of groundedness.

-- was_cut: a result that lost its end on the way: JSON with brackets left open, or a mark that says so.
create or replace temp macro was_cut(value) as
    regexp_matches(left(value, 8), '^(?:\{\s*["'']|\[\s*[{\["''])') and not regexp_matches(right(value, 8), '[\]}]\s*$')
        and length(translate(value, '}]', '')) > length(translate(value, '{[', ''))
    or regexp_matches(right(value, 60), '(?i)\btruncated\b.{0,30}$');

-- run_sources: the texts that stand behind the answers of the runs, as (run_id, kind, text). Kinds:
--   tool      results and error messages of the tools that ran in the run, and results of earlier turns that it was handed;
--             the answer of another agent is no source, its tools are (unless nothing of that agent was traced)
--   document  retrieved documents
--   question  what the user said, in this turn and before
--   given     system instructions
-- What the model said itself is never a source: neither earlier answers nor arguments of tools.
create or replace temp macro run_sources() as table
    select
        tool_calls.run_id,
        'tool' as kind,
        coalesce(tool_calls.result, tool_calls.error_message) as text
    from tool_calls
    inner join runs using (run_id)
    where not coalesce(tool_calls.is_handoff, false)
        and (not coalesce(tool_calls.is_agent_tool, false) or runs.agent_invocations < 2)
        and coalesce(tool_calls.result, tool_calls.error_message) is not null
    union all
    select
        messages.run_id,
        'tool' as kind,
        messages.response as text
    from messages
    anti join tool_calls using (run_id, tool_call_id)
    where messages.direction = 'input'
        and messages.part_type = 'tool_call_response'
        and messages.is_new
        and messages.response is not null
        and messages.tool_call_id is not null
    union all
    select
        run_id,
        'document' as kind,
        documents::varchar as text
    from retrievals
    where documents is not null
    union all
    select
        run_id,
        'question' as kind,
        question as text
    from runs
    where question is not null
    union all
    select
        messages.run_id,
        'question' as kind,
        messages.text
    from messages
    inner join llm_calls using (run_id, llm_call_id)
    where messages.role = 'user'
        and messages.direction = 'input'
        and messages.part_type = 'text'
        and messages.is_new
        and llm_calls.seq = 1
    union all
    select
        run_id,
        'given' as kind,
        text
    from messages
    where role = 'system'
        and part_type = 'text'
        and is_new
        and text is not null;

-- missing_sources: runs whose sources are not all known, as (run_id): a tool ran and its result was not captured or was cut,
-- a request shows no result, or a search shows no documents.
create or replace temp macro missing_sources() as table
    select run_id
    from tool_calls
    where not coalesce(is_handoff, false)
        and not coalesce(is_agent_tool, false)
        and (result is null and status = 'ok' or was_cut(result))
    union
    select run_id
    from tool_requests
    where outcome = 'no_result' and not coalesce(is_handoff, false)
    union
    select run_id
    from retrievals
    where documents is null and status is distinct from 'error';

-- source_numbers: the numbers in the sources of the runs, as (run_id, kind, figures, value, is_percent, sign): one row
-- per run, kind, meaning and unit. figures is the plain decimal without scale; value is never negative, sign is -1, 1 or,
-- where none is written, 0. Every different token is read once, whatever the number of runs that hold it.
create or replace temp macro source_numbers() as table
    with tokens as (
        select distinct
            run_id,
            kind,
            unnest(number_tokens(plain_text(text))) as token
        from run_sources()
    ),
    parsed as (
        select
            token,
            pieces,
            scale_factor(pieces.scale, pieces.currency) * exponent_factor(pieces.exponent)
                * percent_factor(pieces.unit) as factor,
            coalesce(unit_kind(pieces.unit, pieces.currency) = 'percent', false) as is_percent,
            case when pieces.sign || pieces.inner_sign = '' then 0
                when regexp_matches(pieces.sign || pieces.inner_sign, '[-−]') then -1 else 1 end as sign
        from (select token, number_pieces(token) as pieces from (select distinct token from tokens))
        where pieces.core <> ''
    ),
    meanings as (
        select token, factor, is_percent, sign, unnest(source_readings(pieces)) as figures
        from parsed
    )
    select distinct
        tokens.run_id,
        tokens.kind,
        meanings.figures,
        meanings.figures::double * meanings.factor as value,
        meanings.is_percent,
        meanings.sign
    from tokens
    inner join meanings using (token);

-- Comparing tool calls: what is work, which arguments are the same, in which order calls were made.

-- is_work: the call did something. A transfer to another agent and an agent called as a tool are not work of their own.
create or replace temp macro is_work(is_handoff, is_agent_tool) as
    not coalesce(is_handoff, false) and not coalesce(is_agent_tool, false);

-- json_opened: the JSON value; a string that itself holds an object or an array comes back as that.
create or replace temp macro json_opened(value) as
    case
        when json_type(value) = 'VARCHAR' and ltrim(value ->> '$')[1:1] in ('{', '[')
            then coalesce(try_cast(value ->> '$' as json), value)
        else value
    end;

-- plain_decimals: JSON text with 1.0 written as 1 outside of strings. Characters that JSON text never holds stand in for the
-- escapes while the strings are told from the rest.
create or replace temp macro plain_decimals(text) as
    replace(replace(
        array_to_string(
            list_transform(
                string_split(replace(replace(text, '\\', chr(1)), '\"', chr(2)), '"'),
                lambda piece, i: case when i % 2 = 1 then regexp_replace(piece, '\.0([^0-9]|$)', '\1', 'g') else piece end
            ), '"'),
        chr(2), '\"'), chr(1), '\\');

-- json_canonical: text that is the same for equal JSON values: keys in order, 1.0 as 1, an opened string as what it holds.
-- true is not 1, "5" is not 5, [1,2] is not [2,1]. SQL NULL and JSON null are both `null`.
-- A list of one element gives an expression a name, here and below: each mention of a macro's argument is a copy of it.
create or replace temp macro json_canonical(value) as
    list_transform(
        [json_opened(value)::variant::json::varchar],
        lambda text: case
            when text is null then 'null'
            when regexp_matches(text, '\.0([^0-9]|$)') then plain_decimals(text)
            else text
        end
    )[1];

-- json_equal: whether two JSON values are the same.
create or replace temp macro json_equal(a, b) as json_canonical(a) = json_canonical(b);

-- argument_pairs: the arguments of a call as sorted texts `name=value`, the value canonical; empty for no arguments. What is
-- no object is one pair without a name.
create or replace temp macro argument_pairs(arguments) as
    list_transform(
        [json_opened(arguments)],
        lambda opened: case
            when coalesce(json_type(opened), 'NULL') = 'NULL' then []::varchar[]
            when json_type(opened) = 'OBJECT' and try_cast(opened as map(varchar, json)) is not null
                then list_sort(list_transform(
                    map_entries(try_cast(opened as map(varchar, json))),
                    lambda pair: pair.key || '=' || json_canonical(pair.value)
                ))
            else ['=' || json_canonical(opened)]
        end
    )[1];

-- pairs_fit: whether a call with the pairs `actual` is what `expected` asks for. mode exact: the same arguments; subset: at
-- least the expected ones. A nested value must be the same in both modes.
create or replace temp macro pairs_fit(expected, actual, mode) as
    case when mode = 'subset' then list_has_all(actual, expected) else actual = expected end;

-- shared_count: how many elements two lists have in common, each serving once.
create or replace temp macro shared_count(a, b) as
    coalesce(list_sum(list_transform(
        list_distinct(a),
        lambda x: least(len(list_filter(a, lambda y: y = x)), len(list_filter(b, lambda y: y = x)))
    )), 0)::bigint;

-- step_codes: names as their first place in `expected`; names that do not stand there are left out.
create or replace temp macro step_codes(names, expected) as
    list_filter(list_transform(names, lambda name: coalesce(list_position(expected, name), 0)::bigint), lambda code: code > 0);

-- next_row: one step of `steps_in_order`. Element j + 1 of a row: the most of the first j expected steps that can be met.
create or replace temp macro next_row(earlier, expected, batch) as
    case
        when len(batch) = 0 then earlier
        when len(batch) = 1 then list_transform(
            range(len(expected) + 1),
            lambda j: greatest(earlier[j + 1], coalesce(earlier[
                j + 1 - list_position(list_reverse(expected[1:j]), batch[1])
            ] + 1, 0))
        )
        else list_transform(
            range(len(expected) + 1),
            lambda j: list_max(list_transform(
                range(j + 1),
                lambda i: earlier[i + 1] + shared_count(expected[i + 1:j], batch)
            ))
        )
    end;

-- steps_in_order: length of the longest common subsequence of the expected steps and the steps that were made. The latter
-- are batches: the steps of one batch were made together and have no order among them.
-- The work grows with the square of the expected steps and with the number of batches.
create or replace temp macro steps_in_order(expected, batches) as
    list_reduce(
        list_transform(batches, lambda batch: step_codes(batch, expected)),
        lambda earlier, batch: next_row(earlier, step_codes(expected, expected), batch),
        list_transform(range(len(expected) + 1), lambda j: 0::bigint)
    )[-1];

-- things: a number of things for a sentence: `1 call`, `2 calls`; NULL without a number.
create or replace temp macro things(n, thing) as n || ' ' || thing || if(n = 1, '', 's');

-- name_list: names for a sentence; `none` for an empty list.
create or replace temp macro name_list(names) as
    case when len(names) > 0 then array_to_string(names, ', ') else 'none' end;

-- no_tools_reason: why the tools of a run cannot be compared with those of its case; NULL when they can.
create or replace temp macro no_tools_reason(has_case, has_expectation, is_unseen) as
    case
        when not coalesce(has_case, false) then 'no_case'
        when not coalesce(has_expectation, false) then 'no_expectation'
        when is_unseen then 'tool_calls_not_captured'
    end;

-- run_usage: what the LLM calls of each run that has some tell of tokens: how many calls, how many of them did not fail, and at how
-- many a count came that cannot be one.
create or replace temp macro run_usage() as table
    select
        run_id,
        count(*) as n,
        count(*) filter (where status is distinct from 'error') as worked,
        count(*) filter (where list_has_any(unusable_columns, ['input_tokens', 'output_tokens'])) as unusable
    from llm_calls
    group by run_id;

-- no_usage_reason: why a run has no token usage, from its row of `run_usage`.
create or replace temp macro no_usage_reason(usage) as
    case
        when usage.unusable > 0 then 'unusable_token_usage'
        when usage.n > 0 and usage.worked = 0 then 'all_llm_calls_failed'
        else 'no_token_usage'
    end;

-- no_working_call_reason: why a run has no LLM call that did not fail.
create or replace temp macro no_working_call_reason(run) as
    if(run in (select llm_calls.run_id from llm_calls), 'all_llm_calls_failed', 'no_llm_calls');

-- no_tool_call_reason: why a run has no tool call that ran.
create or replace temp macro no_tool_call_reason(run) as
    if(run in (select tool_requests.run_id from tool_requests where not coalesce(is_handoff, false)),
        'no_tool_call_ran', 'no_tool_calls');

-- Checks: what a case of a suite expects of the outcome. `cases.checks` is an array of objects with a `kind` and a `value`:
--
--   contains         a phrase stands in the answer. `value` is a phrase or a list of phrases: one of them must be there, or
--                    all with "match": "all". Commas do not count (723,000 is 723000), nor does white space, nor does case
--                    unless "case_sensitive": true. With "whole_words": true a phrase must not begin or end inside a word.
--   excludes         no phrase of `value` stands in the answer; read like contains.
--   exact            the answer is `value`, or one of a list of texts. White space does not count, nor does case unless
--                    "case_sensitive": true.
--   regex            the pattern (RE2) `value`, or one of a list, is found in the answer; case does not count unless
--                    "case_sensitive": true.
--   numeric          a number that the answer states in digits differs from the number `value` by no more than `tolerance`
--                    (default 0), or than `relative_tolerance` x |value|.
--   json             the answer, without a code fence around it, is JSON equal to `value`: order of keys aside, 1 = 1.0,
--                    true is not 1. With "match": "subset" the object may have further keys; values are compared whole.
--   abstains         the answer declines (`declines`), or holds one of the phrases of `value`, which may be left out.
--   tool_called      a tool named `value`, or one of a list, was called; all of them with "match": "all".
--   tool_not_called  none of them was called.
--   max_steps        the run took no more steps than `value`: LLM calls and tool calls that ran.
--
-- Every check may have a `weight` (default 1; greater than 0). Where there is no answer, checks of the answer fail, excludes
-- among them. A check of unknown kind, without what it compares with, or with a pattern that is none is wrong itself: it
-- counts neither for nor against the agent, and evaluators name it.

-- check_values: the `value` of a check as a list of texts; empty or NULL when there is none.
create or replace temp macro check_values(ch) as
    list_filter(
        case json_type(ch, '$.value') when 'ARRAY' then json_extract_string(ch, '$.value[*]') else [ch ->> '$.value'] end,
        lambda item: item <> '');

-- check_flag: an option of a check that is true or false; false when it is not given.
create or replace temp macro check_flag(ch, name) as coalesce(ch ->> name, 'false') = 'true';

-- phrases_found: which of the phrases stand in a text, each true or false.
create or replace temp macro phrases_found(ch, phrases, text) as
    list_transform(
        list_filter(list_transform(phrases, lambda phrase: folded(phrase, check_flag(ch, '$.case_sensitive'))),
            lambda phrase: phrase <> ''),
        lambda phrase: has_phrase(folded(text, check_flag(ch, '$.case_sensitive')), phrase, check_flag(ch, '$.whole_words')));

-- any_or_all: one of the flags is true; all of them when the check says so.
create or replace temp macro any_or_all(ch, flags) as
    if(ch ->> '$.match' = 'all', list_bool_and(flags), list_bool_or(flags));

-- has_number: a number in the text is the one that the check wants.
create or replace temp macro has_number(ch, text) as
    len(list_filter(answer_numbers(text), lambda number:
        abs(number - try_cast(ch ->> '$.value' as double)) <= greatest(
            coalesce(try_cast(ch ->> '$.tolerance' as double), 0),
            coalesce(try_cast(ch ->> '$.relative_tolerance' as double), 0) * abs(try_cast(ch ->> '$.value' as double)),
            -- The nearest double of 0.1 + 0.2 is not that of 0.3.
            1e-12 * abs(try_cast(ch ->> '$.value' as double))
        ))) > 0;

-- check_problem: what is wrong with a check itself; NULL when nothing is.
create or replace temp macro check_problem(ch) as
    case
        when json_type(ch) <> 'OBJECT' or ch ->> '$.kind' is null then 'no_kind'
        when ch ->> '$.kind' not in ('contains', 'excludes', 'exact', 'regex', 'numeric', 'json', 'abstains',
            'tool_called', 'tool_not_called', 'max_steps') then 'unknown_kind'
        when ch ->> '$.weight' is not null and coalesce(try_cast(ch ->> '$.weight' as double), 0) <= 0 then 'bad_weight'
        when ch ->> '$.kind' = 'json' then case when json_type(ch, '$.value') is null then 'no_value' end
        when ch ->> '$.kind' = 'abstains' then null
        when coalesce(len(check_values(ch)), 0) = 0 then 'no_value'
        when ch ->> '$.kind' in ('numeric', 'max_steps') and try_cast(ch ->> '$.value' as double) is null
            then 'no_number'
        when ch ->> '$.kind' = 'regex' and list_bool_or(list_transform(
            check_values(ch), lambda pattern: try(regexp_matches('', pattern)) is null)) then 'bad_pattern'
    end;

-- is_same_text: the answer is the wanted text.
create or replace temp macro is_same_text(ch, wanted, answer) as
    if(check_flag(ch, '$.case_sensitive'), one_spaced(wanted) = one_spaced(answer),
        lower(one_spaced(wanted)) = lower(one_spaced(answer)));

-- is_wanted_json: the answer is the wanted JSON, or holds it.
create or replace temp macro is_wanted_json(ch, answer) as
    list_transform(
        [list_transform([json_extract(ch, '$.value'), answer_json(answer)], lambda value: argument_pairs(value))],
        lambda pairs: answer_json(answer) is not null
            and if(ch ->> '$.match' = 'subset', list_has_all(pairs[2], pairs[1]), pairs[2] = pairs[1])
    )[1];

-- phrase_check, matching_check, abstaining_check, run_check: whether a check of the kinds that they name holds; NULL for other kinds. Only for
-- checks that are right themselves (`check_problem` is NULL).
-- tools: names of the tools that were called; steps: LLM calls and tool calls.
create or replace temp macro phrase_check(ch, answer) as
    case
        when ch ->> '$.kind' not in ('contains', 'excludes') then null
        when answer is null then false
        when ch ->> '$.kind' = 'contains' then any_or_all(ch, phrases_found(ch, check_values(ch), answer))
        else not list_bool_or(phrases_found(ch, check_values(ch), answer))
    end;
create or replace temp macro matching_check(ch, answer) as
    case
        when ch ->> '$.kind' not in ('exact', 'regex', 'numeric', 'json') then null
        when answer is null then false
        when ch ->> '$.kind' = 'exact'
            then list_bool_or(list_transform(check_values(ch), lambda wanted: is_same_text(ch, wanted, answer)))
        when ch ->> '$.kind' = 'regex' then list_bool_or(list_transform(check_values(ch), lambda pattern: coalesce(try(
            regexp_matches(answer, if(check_flag(ch, '$.case_sensitive'), '', '(?i)') || pattern)), false)))
        when ch ->> '$.kind' = 'json' then is_wanted_json(ch, answer)
        else has_number(ch, answer)
    end;
create or replace temp macro abstaining_check(ch, answer) as
    case
        when ch ->> '$.kind' <> 'abstains' then null
        when answer is null then false
        else declines(answer) or coalesce(list_bool_or(phrases_found(ch, check_values(ch), answer)), false)
    end;
create or replace temp macro run_check(ch, tools, steps) as
    case ch ->> '$.kind'
        when 'tool_called' then if(ch ->> '$.match' = 'all',
            list_has_all(tools, check_values(ch)), list_has_any(tools, check_values(ch)))
        when 'tool_not_called' then not list_has_any(tools, check_values(ch))
        when 'max_steps' then steps <= try_cast(ch ->> '$.value' as double)
    end;

-- check_passes: the same for a check of any kind.
create or replace temp macro check_passes(ch, answer, tools, steps) as
    coalesce(run_check(ch, tools, steps), phrase_check(ch, answer), matching_check(ch, answer), abstaining_check(ch, answer));

-- Checks: what a case of a suite expects of the outcome. `cases.checks` is an array of objects with a `kind`:
--
--   contains         phrases stand in the answer: at least one of the list `any_of`, and each of the list `all_of`. Commas do
--                    not count (723,000 is 723000), nor does case unless "case_sensitive": true; with "whole_words": true a
--                    phrase must not begin or end inside a word.
--   excludes         no phrase of `any_of` stands in the answer; read like contains.
--   exact            the answer is `text`; space around it does not count, nor does case unless "case_sensitive": true.
--   regex            the pattern (RE2) `pattern` is found in the answer; case does not count unless "case_sensitive": true.
--   number           a number that the answer states in digits differs from `value` by no more than `tolerance` (default 0),
--                    or than `relative_tolerance` x |value|. `numeric` is the same kind.
--   json             the answer, without a code fence around it, is JSON equal to `value`: order of keys aside, 1 = 1.0,
--                    true is not 1. With "mode": "subset" the object may have further keys; values are compared whole.
--   abstains         the answer declines (`declines`), or holds a phrase of `any_of`.
--   tool_called      a tool of `any_of` was called, and each of `all_of`.
--   tool_not_called  no tool of `any_of` was called.
--   max_steps        the run took no more steps than `value`: LLM calls and tool calls that ran.
--
-- `value`, a text or a list of texts, may stand in the place of `any_of`, `text` and `pattern`. Every check may have a
-- `weight` (default 1; greater than 0). Where there is no answer, checks of the answer fail, excludes among them. A check of
-- unknown kind, without what it compares with, or with a pattern that is none is wrong itself: it counts neither for nor
-- against the agent, and evaluators name it.

-- texts_of: a text or a list of texts as a list; empty when there is none.
create or replace temp macro texts_of(value) as
    list_filter(
        case json_type(value) when 'ARRAY' then json_extract_string(value, '$[*]') else [value ->> '$'] end,
        lambda item: item <> '');

-- check_values: what a check compares with, one of which is enough.
create or replace temp macro check_values(ch) as
    texts_of(coalesce(json_extract(ch, '$.any_of'), json_extract(ch, '$.text'), json_extract(ch, '$.pattern'),
        json_extract(ch, '$.value')));

-- check_needs: what a check compares with, all of which must be there.
create or replace temp macro check_needs(ch) as texts_of(json_extract(ch, '$.all_of'));

-- check_flag: an option of a check that is true or false; false when it is not given.
create or replace temp macro check_flag(ch, name) as coalesce(ch ->> name, 'false') = 'true';

-- phrases_found: which of the phrases stand in a text, each true or false.
create or replace temp macro phrases_found(ch, phrases, text) as
    list_transform(
        list_filter(list_transform(phrases, lambda phrase: folded(phrase, check_flag(ch, '$.case_sensitive'))),
            lambda phrase: phrase <> ''),
        lambda phrase: has_phrase(folded(text, check_flag(ch, '$.case_sensitive')), phrase, check_flag(ch, '$.whole_words')));

-- any_and_all: the flags of `any_of` have one that is true, those of `all_of` have none that is false; empty ones say nothing.
create or replace temp macro any_and_all(any_flags, all_flags) as
    coalesce(list_bool_or(any_flags), true) and coalesce(list_bool_and(all_flags), true);

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
        when ch ->> '$.kind' not in ('contains', 'excludes', 'exact', 'regex', 'number', 'numeric', 'json', 'abstains',
            'tool_called', 'tool_not_called', 'max_steps') then 'unknown_kind'
        when ch ->> '$.weight' is not null and coalesce(try_cast(ch ->> '$.weight' as double), 0) <= 0 then 'bad_weight'
        when ch ->> '$.kind' = 'json' then case when json_type(ch, '$.value') is null then 'no_value' end
        when ch ->> '$.kind' = 'abstains' then null
        when coalesce(len(check_values(ch)), 0) = 0
            and (ch ->> '$.kind' not in ('contains', 'tool_called') or coalesce(len(check_needs(ch)), 0) = 0) then 'no_value'
        when ch ->> '$.kind' in ('number', 'numeric', 'max_steps') and try_cast(ch ->> '$.value' as double) is null
            then 'no_number'
        when ch ->> '$.kind' = 'regex' and list_bool_or(list_transform(
            check_values(ch), lambda pattern: try(regexp_matches('', pattern)) is null)) then 'bad_pattern'
    end;

-- is_same_text: the answer is the wanted text.
create or replace temp macro is_same_text(ch, wanted, answer) as
    if(check_flag(ch, '$.case_sensitive'), trim(wanted, E' \n\r\t') = trim(answer, E' \n\r\t'),
        lower(trim(wanted, E' \n\r\t')) = lower(trim(answer, E' \n\r\t')));

-- is_wanted_json: the answer is the wanted JSON, or holds it.
create or replace temp macro is_wanted_json(ch, answer) as
    list_transform(
        [list_transform([json_extract(ch, '$.value'), answer_json(answer)], lambda value: argument_pairs(value))],
        lambda pairs: answer_json(answer) is not null
            and if(ch ->> '$.mode' = 'subset', list_has_all(pairs[2], pairs[1]), pairs[2] = pairs[1])
    )[1];

-- phrase_check, matching_check, abstaining_check, run_check: whether a check of the kinds that they name holds; NULL for other kinds. Only for
-- checks that are right themselves (`check_problem` is NULL).
-- tools: names of the tools that were called; steps: LLM calls and tool calls.
create or replace temp macro phrase_check(ch, answer) as
    case
        when ch ->> '$.kind' not in ('contains', 'excludes') then null
        when answer is null then false
        when ch ->> '$.kind' = 'contains' then any_and_all(
            phrases_found(ch, check_values(ch), answer), phrases_found(ch, check_needs(ch), answer))
        else not list_bool_or(phrases_found(ch, check_values(ch), answer))
    end;
create or replace temp macro matching_check(ch, answer) as
    case
        when ch ->> '$.kind' not in ('exact', 'regex', 'number', 'numeric', 'json') then null
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
        when 'tool_called' then coalesce(list_has_any(tools, nullif(check_values(ch), [])), true)
            and coalesce(list_has_all(tools, check_needs(ch)), true)
        when 'tool_not_called' then not list_has_any(tools, check_values(ch))
        when 'max_steps' then steps <= try_cast(ch ->> '$.value' as double)
    end;

-- check_passes: the same for a check of any kind.
create or replace temp macro check_passes(ch, answer, tools, steps) as
    coalesce(run_check(ch, tools, steps), phrase_check(ch, answer), matching_check(ch, answer), abstaining_check(ch, answer));

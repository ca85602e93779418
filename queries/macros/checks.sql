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

-- texts_at: the texts at a place of a check, one or a list of them; empty when there is none.
create or replace temp macro texts_at(ch, place) as
    case coalesce(json_type(json_extract(ch, place)), 'NULL')
        when 'NULL' then []::varchar[]
        when 'ARRAY' then list_filter(json_extract_string(ch, place || '[*]'), lambda item: item <> '')
        else list_filter([json_extract_string(ch, place)], lambda item: item <> '')
    end;

-- check_values: what a check compares with, one of which is enough.
create or replace temp macro check_values(ch) as
    list_concat(texts_at(ch, '$.any_of'), texts_at(ch, '$.text'), texts_at(ch, '$.pattern'), texts_at(ch, '$.value'));

-- check_flag: an option of a check that is true or false; false when it is not given.
create or replace temp macro check_flag(ch, name) as coalesce(ch ->> name, 'false') = 'true';

-- folded: text for comparing: one kind of space and of apostrophe, no commas, and lower case unless case counts.
create or replace temp macro folded(text, is_case_sensitive) as
    trim(regexp_replace(
        replace(replace(case when is_case_sensitive then text else lower(text) end, ',', ''), '’', ''''), '\s+', ' ', 'g'));

-- has_phrase: a folded text holds a folded phrase.
create or replace temp macro has_phrase(text, phrase, is_whole) as
    case
        when phrase = '' then false
        when is_whole then regexp_matches(text, '(^|[^\pL\pN_])' || regexp_escape(phrase) || '($|[^\pL\pN_])')
        else contains(text, phrase)
    end;

-- phrases_found: which of the phrases stand in a text, each true or false.
create or replace temp macro phrases_found(ch, phrases, text) as
    list_transform(phrases, lambda phrase: has_phrase(
        folded(text, check_flag(ch, '$.case_sensitive')), folded(phrase, check_flag(ch, '$.case_sensitive')),
        check_flag(ch, '$.whole_words')));

-- any_and_all: the flags of `any_of` have one that is true, those of `all_of` have none that is false; empty ones say nothing.
create or replace temp macro any_and_all(any_flags, all_flags) as
    coalesce(list_bool_or(any_flags), true) and coalesce(list_bool_and(all_flags), true);

-- declines: the answer says that it does not know or cannot tell.
create or replace temp macro declines(answer) as
    regexp_matches(folded(answer, false),
        '\b(?:can(?:not|''t| not)|could(?: not|n''t)|unable to|(?:am|are|is|was|were)(?: not|n''t) able to)\b'
        || '|\b(?:do(?: not|n''t)|does(?: not|n''t)|did(?: not|n''t)) (?:know|have|exist|find|seem to (?:exist|be)|appear to (?:exist|be))\b'
        || '|\bno (?:such|information|data|record|records|evidence|reliable|known|public|published|results?|figures?|sources?)\b'
        || '|\b(?:unknown|unanswerable|unverified|unavailable|insufficient|inconclusive)\b'
        || '|\bnot (?:verified|known|available|public|published|possible|aware|familiar|found|sure|certain|enough|a (?:real|recognised|recognized|known))\b'
        || '|\bthere(?: is|''s) no\b|\bi(?: am|''m) not\b|\bnot (?:have|find)\b|\bisn''t (?:a|any|available|known|possible)\b');

-- answer_numbers: the numbers in a text that are written in digits. A comma before three digits groups them, and a hyphen
-- between two numbers is no minus sign; digits that belong to a name (A-5, v2) are no number.
create or replace temp macro grouped(text) as regexp_replace(text, '(\d),(\d{3})', '\1\2', 'g');
create or replace temp macro answer_numbers(text) as
    list_filter(list_transform(
        regexp_extract_all(
            regexp_replace(grouped(grouped(replace(text, '−', '-'))), '(\d)[-–](\d)', '\1 \2', 'g'),
            '(?:^|[^\pL\d.\-])(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)', 1),
        lambda item: try_cast(item as double)
    ), lambda number: number is not null);

-- has_number: a number in the text is the one that the check wants.
create or replace temp macro has_number(ch, text) as
    len(list_filter(answer_numbers(text), lambda number:
        abs(number - try_cast(ch ->> '$.value' as double)) <= greatest(
            coalesce(try_cast(ch ->> '$.tolerance' as double), 0),
            coalesce(try_cast(ch ->> '$.relative_tolerance' as double), 0) * abs(try_cast(ch ->> '$.value' as double)),
            -- The nearest double of 0.1 + 0.2 is not that of 0.3.
            1e-12 * abs(try_cast(ch ->> '$.value' as double))
        ))) > 0;

-- answer_json: the JSON that an answer consists of, out of a code fence; NULL when it is none.
create or replace temp macro answer_json(text) as
    try_cast(regexp_replace(trim(text, E' \n\r\t'), '^```[a-zA-Z]*\s*([\s\S]*?)\s*```$', '\1') as json);

-- check_problem: what is wrong with a check itself; NULL when nothing is.
create or replace temp macro check_problem(ch) as
    case
        when json_type(ch) <> 'OBJECT' or ch ->> '$.kind' is null then 'no_kind'
        when ch ->> '$.kind' not in ('contains', 'excludes', 'exact', 'regex', 'number', 'numeric', 'json', 'abstains',
            'tool_called', 'tool_not_called', 'max_steps') then 'unknown_kind'
        when ch ->> '$.weight' is not null and coalesce(try_cast(ch ->> '$.weight' as double), 0) <= 0 then 'bad_weight'
        when ch ->> '$.kind' = 'json' then case when json_type(ch, '$.value') is null then 'no_value' end
        when ch ->> '$.kind' = 'abstains' then null
        when len(check_values(ch)) = 0 and (ch ->> '$.kind' not in ('contains', 'tool_called')
            or len(texts_at(ch, '$.all_of')) = 0) then 'no_value'
        when ch ->> '$.kind' in ('number', 'numeric', 'max_steps') and try_cast(ch ->> '$.value' as double) is null
            then 'no_number'
        when ch ->> '$.kind' = 'regex' and list_bool_or(list_transform(
            check_values(ch), lambda pattern: try(regexp_matches('', pattern)) is null)) then 'bad_pattern'
    end;

-- is_same_text: the answer is the wanted text.
create or replace temp macro is_same_text(ch, wanted, answer) as
    trim(case when check_flag(ch, '$.case_sensitive') then wanted else lower(wanted) end, E' \n\r\t')
    = trim(case when check_flag(ch, '$.case_sensitive') then answer else lower(answer) end, E' \n\r\t');

-- check_passes: whether a check holds for a run; NULL when the check itself is wrong (`check_problem`).
-- tools: names of the tools that were called; steps: LLM calls and tool calls.
create or replace temp macro check_passes(ch, answer, tools, steps) as
    case
        when check_problem(ch) is not null then null
        when ch ->> '$.kind' = 'tool_called' then any_and_all(
            list_transform(check_values(ch), lambda name: list_contains(tools, name)),
            list_transform(texts_at(ch, '$.all_of'), lambda name: list_contains(tools, name)))
        when ch ->> '$.kind' = 'tool_not_called' then not list_has_any(tools, check_values(ch))
        when ch ->> '$.kind' = 'max_steps' then steps <= try_cast(ch ->> '$.value' as double)
        when answer is null then false
        when ch ->> '$.kind' = 'contains' then any_and_all(
            phrases_found(ch, check_values(ch), answer), phrases_found(ch, texts_at(ch, '$.all_of'), answer))
        when ch ->> '$.kind' = 'excludes' then not list_bool_or(phrases_found(ch, check_values(ch), answer))
        when ch ->> '$.kind' = 'exact'
            then list_bool_or(list_transform(check_values(ch), lambda wanted: is_same_text(ch, wanted, answer)))
        when ch ->> '$.kind' = 'regex' then list_bool_or(list_transform(check_values(ch), lambda pattern: coalesce(try(
            regexp_matches(answer, case when check_flag(ch, '$.case_sensitive') then pattern else '(?i)' || pattern end)), false)))
        when ch ->> '$.kind' in ('number', 'numeric') then has_number(ch, answer)
        when ch ->> '$.kind' = 'json' then coalesce(case
            when ch ->> '$.mode' = 'subset'
                then pairs_fit(argument_pairs(json_extract(ch, '$.value')), argument_pairs(answer_json(answer)), 'subset')
            else json_equal(json_extract(ch, '$.value'), answer_json(answer))
        end and answer_json(answer) is not null, false)
        when ch ->> '$.kind' = 'abstains'
            then declines(answer) or coalesce(list_bool_or(phrases_found(ch, check_values(ch), answer)), false)
    end;

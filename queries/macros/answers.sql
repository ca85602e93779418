-- Reading answers: phrases, numbers and JSON in them, and whether they decline.

-- one_spaced: text with single spaces, none at the ends, and one kind of apostrophe.
create or replace temp macro one_spaced(text) as trim(regexp_replace(replace(text, '’', ''''), '\s+', ' ', 'g'));

-- folded: text for comparing phrases: single spaces, no commas, and lower case unless case counts.
create or replace temp macro folded(text, is_case_sensitive) as
    replace(if(is_case_sensitive, one_spaced(text), lower(one_spaced(text))), ',', '');

-- has_phrase: a folded text holds a folded phrase.
create or replace temp macro has_phrase(text, phrase, is_whole) as
    case
        when is_whole then regexp_matches(text, '(^|[^\pL\pN_])' || regexp_escape(phrase) || '($|[^\pL\pN_])')
        else contains(text, phrase)
    end;

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

-- answer_json: the JSON that an answer consists of, out of a code fence; NULL when it is none.
create or replace temp macro answer_json(text) as
    try_cast(regexp_replace(trim(text, E' \n\r\t'), '^```[a-zA-Z]*\s*([\s\S]*?)\s*```$', '\1') as json);

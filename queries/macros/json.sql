-- Reading JSON that arrives as text, in text or as text in a text. All return NULL where there is nothing to read.

-- as_json: the value as JSON; NULL when the text is not JSON.
create or replace temp macro as_json(value) as try_cast(value as json);

-- is_cut_json: text that starts as a JSON document; where it is none, an attribute limit has cut it off.
create or replace temp macro is_cut_json(value) as regexp_matches(value[1:40], '^\s*\[?\s*\{\s*"[A-Za-z_]+"\s*:');

-- json_text: a JSON value as plain text: strings without quotes, everything else as JSON text.
create or replace temp macro json_text(value) as
    case json_type(value)
        when 'VARCHAR' then value ->> '$'
        when 'NULL' then null
        else value::varchar
    end;

-- json_items: the elements of a JSON array; an empty list for anything else.
create or replace temp macro json_items(value) as
    case when json_type(value) = 'ARRAY' then json_extract(value, '$[*]') else []::json[] end;

-- attribute_text: an attribute value as text; arrays and objects as JSON.
create or replace temp macro attribute_text(value) as
    case
        when value is null then null
        when variant_typeof(value) = 'VARCHAR' then value::varchar
        else value::json::varchar
    end;

-- meaningful: the text, or NULL where an emitter wrote a placeholder for "nothing" or "not captured".
create or replace temp macro meaningful(value) as
    case
        when strlen(value) < 24 and value in (
            '', '{}', '[]', '""', 'null', 'None', '<elided>', '<REDACTED>', '[REDACTED]', '__REDACTED__',
            '<not specified>', 'unknown', 'N/A', '<not serializable>'
        ) then null
        else value
    end;

-- as_tokens: a token count; NULL for anything that is not a whole number from 0 to 10^12. No call has as many; the sum over a run
-- of larger ones would not fit its column.
create or replace temp macro as_tokens(value) as
    case
        when try_cast(value as double) between 0 and 1e12 and floor(try_cast(value as double)) = try_cast(value as double)
            then try_cast(try_cast(value as double) as bigint)
    end;

-- as_amount: a cost or a time; NULL for anything that is not a number, is below 0, or is no finite one.
create or replace temp macro as_amount(value) as
    case when try_cast(value as double) >= 0 and isfinite(try_cast(value as double)) then try_cast(value as double) end;

-- Temporary macros: attributes as JSON, for tools that do not know VARIANT. As in OTLP/JSON, a number that is not finite is the text NaN,
-- Infinity or -Infinity, and bytes are base64: what was a number or bytes cannot be told from text then.

-- plain_value: one value as JSON; NULL for the empty value.
create or replace temp macro plain_value(v) as
    case
        when v is null then null
        when variant_typeof(v) = 'DOUBLE' and isnan(try_cast(v as double)) then to_json('NaN')
        when variant_typeof(v) = 'DOUBLE' and isinf(try_cast(v as double))
            then to_json(if(try_cast(v as double) > 0, 'Infinity', '-Infinity'))
        when variant_typeof(v) = 'BLOB' then to_json(base64(try_cast(v as blob)))
        else v::json
    end;

-- plain_attributes: a map as one JSON object.
create or replace temp macro plain_attributes(attributes) as
    to_json(
        map_from_entries(
            list_transform(
                map_entries(attributes),
                lambda entry: struct_pack(k := entry.key, v := plain_value(entry.value))
            )
        )
    );

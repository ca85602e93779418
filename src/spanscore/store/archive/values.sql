-- Temporary macros: from the types of the tables to any-value structs, which Parquet can hold. Every value keeps its type: VARIANT in a
-- map cannot be written to Parquet (DuckDB 2.0.1), and through JSON NaN, byte strings and 64-bit integers would change theirs.

-- any_value_of: an attribute value as the struct that `variant_value` reads; NULL for the empty any-value.
create or replace temp macro any_value_of(v) as
    case
        when v is not null then struct_pack(
            string_value := case when variant_typeof(v) = 'VARCHAR' then v::varchar end,
            int_value := case when variant_typeof(v) = 'INT64' then v::bigint end,
            double_value := case when variant_typeof(v) = 'DOUBLE' then v::double end,
            bool_value := case when variant_typeof(v) in ('BOOL_TRUE', 'BOOL_FALSE') then v::boolean end,
            json_value := case
                when variant_typeof(v) not in ('VARCHAR', 'INT64', 'DOUBLE', 'BOOL_TRUE', 'BOOL_FALSE', 'BLOB')
                    then v::json::varchar
            end,
            bytes_value := case when variant_typeof(v) = 'BLOB' then v::blob end
        )
    end;

-- attribute_pairs: a map as the list of pairs that `attribute_map` reads; a map that is NULL stays NULL.
create or replace temp macro attribute_pairs(attributes) as
    list_transform(
        map_entries(attributes),
        lambda entry: struct_pack(key := entry.key, value := any_value_of(entry.value))
    );

-- Temporary macros: from any-value structs, as Arrow and the archive hold them, to the types of the tables.

-- variant_value: an attribute value with its own type; NULL for the empty any-value.
create or replace temp macro variant_value(v) as
    case
        when v.string_value is not null then v.string_value::variant
        when v.int_value is not null then v.int_value::variant
        when v.double_value is not null then v.double_value::variant
        when v.bool_value is not null then v.bool_value::variant
        when v.json_value is not null then v.json_value::json::variant
        when v.bytes_value is not null then v.bytes_value::variant
    end;

-- attribute_map: a list of key-value pairs as a map; an absent list is the empty map, as on the wire.
create or replace temp macro attribute_map(pairs) as
    map_from_entries(
        list_transform(coalesce(pairs, []), lambda pair: struct_pack(k := pair.key, v := variant_value(pair.value)))
    );

-- Log records say what is odd about them, as spans do.
alter table log_records add column problems varchar[];

comment on column log_records.problems is
    'What is odd about the log record, such as duplicate_attribute_key, strindex, truncated_value; NULL = nothing.';
comment on column spans.problems is
    'What is odd about the span, such as bad_parent_id, duplicate_attribute_key, truncated_value, no_start_time, no_end_time, end_before_start; NULL = nothing.';

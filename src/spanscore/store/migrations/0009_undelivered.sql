-- Why scores do not arrive, by destination: those that wait for an address nobody answers at are seen, and not only kept.

create table destination_failures (
    destination varchar not null,
    failed_passes integer not null,
    last_error varchar not null,
    failed_at timestamp not null
);

comment on table destination_failures is 'One row per destination of score_outbox that scores could not be sent to; deleted when some have arrived.';
comment on column destination_failures.destination is 'As in score_outbox.';
comment on column destination_failures.failed_passes is 'Passes in a row in which scores could not be sent there [count].';
comment on column destination_failures.last_error is 'Why not, the last time.';
comment on column destination_failures.failed_at is 'When that was [UTC].';

comment on column score_outbox.destination is 'File, or endpoint without user, password and query; a part of its path that may be a token is its SHA-256, first 12 digits.';

update score_outbox
set destination = regexp_extract(destination, '^https?://[^/]*') || array_to_string(
    list_transform(
        string_split(regexp_replace(destination, '^https?://[^/]*', ''), '/'),
        lambda part: if(
            length(part) <= 20 and regexp_full_match(part, '|[A-Za-z]?[a-z]*([._-][a-z]+)*|v[0-9]{1,3}([a-z]+[0-9]{0,3})?|[0-9]{1,4}'),
            part,
            'sha256-' || left(sha256(part), 12)
        )
    ),
    '/'
)
where regexp_matches(destination, '^https?://');

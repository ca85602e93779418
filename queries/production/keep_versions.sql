-- Numbers for the evaluators that have none.
insert into evaluator_versions by name
select
    (select coalesce(max(version), 0) from evaluator_versions) + row_number() over (order by wanted.position) as version,
    wanted.evaluator,
    wanted.evaluator_sha256,
    wanted.params,
    facts.model_version,
    facts.price_fingerprint
from wanted_evaluators as wanted
cross join (
    select
        (select max(value) from store_meta where key = 'model_version') as model_version,
        (select max(fingerprint) from price_snapshot) as price_fingerprint
) as facts
where not exists (
    select 1
    from evaluator_versions as known
    where known.evaluator = wanted.evaluator
        and known.evaluator_sha256 = wanted.evaluator_sha256
        and known.params = wanted.params
        and known.model_version is not distinct from facts.model_version
        and known.price_fingerprint is not distinct from facts.price_fingerprint
);

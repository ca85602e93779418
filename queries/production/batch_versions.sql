-- The number of every evaluator that has run over the batch, and the numbers of other versions of it.
create or replace temp table batch_versions as
select
    wanted.position,
    wanted.failed,
    known.version,
    (select coalesce(list(other.version), []) from evaluator_versions as other
        where other.evaluator = wanted.evaluator and other.version <> known.version) as superseded
from wanted_evaluators as wanted
inner join evaluator_versions as known
    on known.evaluator = wanted.evaluator
    and known.evaluator_sha256 = wanted.evaluator_sha256
    and known.params = wanted.params
    and known.model_version is not distinct from (select max(value) from store_meta where key = 'model_version')
    and known.price_fingerprint is not distinct from (select max(fingerprint) from price_snapshot)
where wanted.has_run;

-- The cases of this version of the suite, as they were stored before.
delete from cases
where suite_name = $suite_name and suite_version is not distinct from $suite_version::varchar;

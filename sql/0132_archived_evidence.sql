-- Evidence can be archived when newer evidence has replaced it. Nobody is then reminded of its end.
alter table evidence add column archived_at timestamptz;
select index_register('evidence');

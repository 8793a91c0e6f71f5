-- Evidence that a newer one has replaced is archived, so that nobody is reminded of its end any more.
alter table evidence add column archived_at timestamptz;
select index_register('evidence');

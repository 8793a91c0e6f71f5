-- The home page and the report for the board count the risks that nobody has decided about, and the
-- list can be filtered by them. Without this index, each of these reads all risks of the organization.
-- The condition is the one of IS_UNDECIDED_SQL in src/starters/undecided.ts.
create index risks_undecided on risks (organization_id, created_at, id)
	where coalesce(note, '') = 'Suggested by Assay. Nobody has decided about its treatment and scores yet. Delete this note when somebody has.';

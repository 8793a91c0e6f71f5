-- People may add to the note of a risk that nobody has decided about, and a risk with another
-- treatment than the one of the starter set is decided. The condition is IS_UNDECIDED_SQL in
-- src/starters/undecided.ts.
drop index risks_undecided;
create index risks_undecided on risks (organization_id, created_at, id)
	where treatment = 'MITIGATED' and starts_with(coalesce(note, ''), 'Suggested by Assay. Nobody has decided about its treatment and scores yet. Delete this note when somebody has.');

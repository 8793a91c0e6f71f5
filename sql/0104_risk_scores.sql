-- The risk matrix counts a whole register by the four scores, of the risks that are in use. It reads
-- this index alone and not the wide rows. The index replaces the one of the first two scores, so a
-- write keeps as many indexes as before.
create index risks_scores on risks (
	organization_id, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact,
	archived_at
);
drop index risks_inherent;

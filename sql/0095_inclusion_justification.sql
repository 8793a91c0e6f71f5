-- ISO/IEC 27001:2022, 6.1.3 d) asks for a justification of each control that is included, and not
-- only of those that are excluded. Search finds it too.
alter table controls add column inclusion_justification text;
alter table controls drop column search_text;
alter table controls add column search_text text not null generated always as (
	search_text(
		section_title, name, description, inclusion_justification, exclusion_justification
	)
) stored;
create index controls_search on controls using gin (organization_id, search_text gin_trgm_ops);
grant select (organization_id, id, search_text) on controls to assay_search;

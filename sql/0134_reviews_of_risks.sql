-- Risks are reviewed again on a day, and an accepted risk may be accepted until a day only.
alter table risks
	add column next_review_date date,
	add column accepted_until date;
select index_register('risks');

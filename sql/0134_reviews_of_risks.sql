-- Risks get the date of their next review, and accepted risks the last day of the acceptance.
alter table risks
	add column next_review_date date,
	add column accepted_until date;
select index_register('risks');

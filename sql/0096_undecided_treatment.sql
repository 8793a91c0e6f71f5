-- A risk whose treatment nobody has chosen yet is UNDECIDED. The risks that a new organization
-- begins with were MITIGATED, although nothing was done about them.
alter table risks drop constraint risks_treatment_check;
alter table risks add constraint risks_treatment_check check (
	treatment in ('MITIGATED', 'ACCEPTED', 'AVOIDED', 'TRANSFERRED', 'UNDECIDED')
);

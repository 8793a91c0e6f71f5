import { coveringStateSql } from "../devices/check-results/verification.ts";

/** Selects the records linked to the control `c`. */
const LINKED = `(
	select k.organization_id, k.second_id as id from record_links k
	where k.organization_id = c.organization_id and k.first_id = c.id
	union all
	select k.organization_id, k.first_id from record_links k
	where k.organization_id = c.organization_id and k.second_id = c.id
)`;

/**
 * Selects the state of each record linked to the control `c`, null for one that is no measure. Each
 * lookup names one row, so that PostgreSQL uses an index in the past too. With `offset 0`, it reads
 * a state once and not for each expression that uses it, which takes three times as long.
 */
export const MEASURES = `(
	select (
		select ${coveringStateSql("m")} from measures m
		where m.organization_id = l.organization_id and m.id = l.id and m.archived_at is null
	) as state
	from ${LINKED} l
	offset 0
)`;

/** Selects the names of the first measures that are linked to the control `c`, as an array. */
export const firstMeasureNames = (most: number) => `array(
	select n.name from (
		select (
			select m.name from measures m
			where m.organization_id = l.organization_id and m.id = l.id and m.archived_at is null
		) as name
		from ${LINKED} l
		offset 0
	) n
	where n.name is not null order by lower(n.name), n.name limit ${most}
)`;

/**
 * SQL of how far the measures of one control cover it, as columns of an aggregate over their
 * states `m.state`. A measure that is not applicable does not count. Without a measure that counts,
 * both columns are false.
 */
export const COVERAGE = `
	coalesce(bool_and(m.state = 'IMPLEMENTED') filter (where m.state <> 'NOT_APPLICABLE'), false)
		as is_covered,
	count(*) filter (where m.state = 'IMPLEMENTED')
		between 1 and count(*) filter (where m.state <> 'NOT_APPLICABLE') - 1 as is_partly_covered`;

import { CANONICAL_CHECKS, PLATFORM_NAMES } from "../terms.ts";

/**
 * SQL of a name for an exception `t`, because the register has none: its check, the devices that it
 * covers, and its reason, such as "Host firewall, group Build servers: The vendor is late".
 */
export const EXCEPTION_NAME = `
	${caseOf(
		"t.check_key",
		Object.entries(CANONICAL_CHECKS).map(([key, { name }]) => [key, name]),
	)} || ', ' ||
	case t.scope
		when 'DEVICE' then coalesce(
			(
				select coalesce(d.name, d.hostname, 'an unnamed device') from devices d
				where d.organization_id = t.organization_id and d.id = t.device_id
			),
			'a deleted device'
		)
		when 'GROUP' then coalesce(
			(
				select 'group ' || g.name from device_groups g
				where g.organization_id = t.organization_id and g.id = t.group_id
			),
			'a deleted group'
		)
		when 'PLATFORM' then
			'all ' || ${caseOf("t.platform", Object.entries(PLATFORM_NAMES))} || ' devices'
		else 'all devices'
	end || ': ' || t.reason`;

/** Returns an SQL expression that replaces the known values of a column by words. */
function caseOf(
	column: string,
	words: [value: string, word: string][],
): string {
	const known = words.map(([value, word]) => `when '${value}' then '${word}'`);
	return `case ${column} ${known.join(" ")} else ${column} end`;
}

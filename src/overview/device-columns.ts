import { checkStates } from "../devices/check-states.ts";
import { FRESHNESS, REPORTING, statusAt } from "../devices/device-record.ts";
import { complianceOfEach } from "../devices/find-by-state.ts";

/** SQL of the value that devices `t` are counted by, and of the join that it needs. */
export interface Column {
	value: string;
	join: string;
}

const plain = (value: string): Column => ({ value, join: "" });

/**
 * Returns the columns that devices can be counted by. `at` is the SQL of a time in the past, if
 * there is one. `check` is the SQL of the key of a check.
 */
export function deviceColumns(
	at?: string,
	check = "null",
): Record<string, Column> {
	const status = at === undefined ? "t.status" : statusAt(at);
	return {
		status: plain(status),
		// A revoked device has none, as in the filter of lists.
		freshness: plain(`case when t.status <> 'REVOKED' then (${FRESHNESS}) end`),
		reporting: plain(`(${REPORTING})`),
		platform: plain("t.platform"),
		owner_id: plain("t.owner_id"),
		os_version: plain("t.os_version"),
		agent_version: plain("t.agent_version"),
		compliance: {
			value: "x.compliance",
			join: `left join (${complianceOfEach(at)}) x on x.id = t.id`,
		},
		check_state: {
			value: `case when (${status}) = 'ACTIVE' then coalesce(x.state, 'NOT_APPLICABLE') end`,
			join: `left join (${checkStates({ at, check })}) x on x.device_id = t.id`,
		},
	};
}

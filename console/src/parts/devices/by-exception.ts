/** The filters that select the devices that are compliant by exception. */
export const COMPLIANT_BY_EXCEPTION = {
	compliance: "COMPLIANT",
	check_state: "EXCEPTED",
} as const;

/** Returns true if the filters select the devices that are compliant by exception. */
export function isByException({
	compliance,
	check_state: state,
	check,
}: Record<string, unknown>): boolean {
	return (
		compliance === COMPLIANT_BY_EXCEPTION.compliance &&
		state === COMPLIANT_BY_EXCEPTION.check_state &&
		check === undefined
	);
}

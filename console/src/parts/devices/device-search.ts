/**
 * Returns the parameters of the list of devices. A check without a state, as in an address that
 * somebody edited, lists the devices that fail the check.
 */
export function withCheckState<Search extends Record<string, unknown>>(
	search: Search,
): Search {
	return search.check === undefined || search.check_state !== undefined
		? search
		: { ...search, check_state: ["IN_GRACE", "FAILING"] };
}

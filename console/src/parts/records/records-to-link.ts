import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api.ts";
import { describeKind, titleOf } from "../../kinds.ts";
import { foundKinds, isRegisterKind, type LinkedKind } from "./linkable.tsx";
import { readRecords } from "./register-calls.ts";

/** Number of records that are listed before the user types a word. */
const BROWSED = 50;

export interface FoundRecord {
	id: string;
	kind: string;
	name: string | null;
}

/**
 * Returns the query for the records that can be linked: those with the words, or the first ones of
 * a kind by their name, for a user who does not know a word of them.
 */
export function recordsToLink(
	organizationId: string,
	words: string,
	kind: LinkedKind | null,
) {
	return queryOptions({
		queryKey: ["records to link", organizationId, words, kind],
		queryFn: ({ signal }) =>
			words === "" && kind
				? browse(organizationId, kind, signal)
				: search(organizationId, words, kind, signal),
	});
}

async function search(
	organization_id: string,
	query: string,
	kind: LinkedKind | null,
	signal: AbortSignal,
): Promise<FoundRecord[]> {
	const kinds = kind ? [kind] : foundKinds;
	const input = { organization_id, query, kinds };
	return (await call("searchRecords", input, { signal })).records;
}

async function browse(
	organization_id: string,
	kind: LinkedKind,
	signal: AbortSignal,
): Promise<FoundRecord[]> {
	const input = { organization_id, size: BROWSED };
	if (!isRegisterKind(kind)) {
		const { devices } = await call("listDevices", input, { signal });
		return devices.map(({ id, name, hostname }) => {
			return { id, kind, name: name ?? hostname };
		});
	}
	const described = describeKind(kind);
	const { title, orders } = described;
	const order =
		title && orders.includes(title) ? { order_by: { field: title } } : {};
	const page = await readRecords(described, { ...input, ...order }, signal);
	return page.records.map((record) => {
		return { id: record.id, kind, name: titleOf(described, record) };
	});
}

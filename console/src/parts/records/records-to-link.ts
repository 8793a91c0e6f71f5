import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api.ts";
import { describeKind, titleOf } from "../../kinds.ts";
import { besideFound, besideRecord } from "./beside-words.ts";
import { foundKinds, isRegisterKind, type LinkedKind } from "./linkable.tsx";
import { type Names, referencesIn } from "./record-names.ts";
import { readRecords } from "./register-calls.ts";

/** Number of records that are listed before the user types a word. */
const BROWSED = 50;

export interface FoundRecord {
	id: string;
	kind: string;
	name: string | null;
	/** What tells it from others of the same name, such as "Done · Mei Tanaka". */
	beside: string;
	/** True if it does not match the words but has a similar name. */
	isSimilar?: true;
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
	const { records, only_similar: similar } = await call(
		"searchRecords",
		input,
		{ signal },
	);
	const withBeside = ({ details, ...found }: (typeof records)[number]) => ({
		...found,
		beside: besideFound(found.kind, details),
	});
	return records.length > 0
		? records.map(withBeside)
		: similar.map((one) => ({ ...withBeside(one), isSimilar: true as const }));
}

async function browse(
	organization_id: string,
	kind: LinkedKind,
	signal: AbortSignal,
): Promise<FoundRecord[]> {
	const input = { organization_id, size: BROWSED };
	if (!isRegisterKind(kind)) {
		const { devices } = await call("listDevices", input, { signal });
		return devices.map((device) => ({
			id: device.id,
			kind,
			name: device.name ?? device.hostname,
			beside: besideFound(kind, { ...device, owner: device.owner_name }),
		}));
	}
	const described = describeKind(kind);
	const { title, orders } = described;
	const order =
		title && orders.includes(title) ? { order_by: { field: title } } : {};
	const page = await readRecords(described, { ...input, ...order }, signal);
	const named = referencesIn(described, page.records, described.beside);
	const names = await readNames(organization_id, named, signal);
	return page.records.map((record) => ({
		id: record.id,
		kind,
		name: titleOf(described, record),
		beside: besideRecord(described, record, names),
	}));
}

async function readNames(
	organization_id: string,
	ids: readonly string[],
	signal: AbortSignal,
): Promise<Names> {
	if (ids.length === 0) return new Map();
	const input = { organization_id, ids: [...new Set(ids)] };
	const { records } = await call("getRecordNames", input, { signal });
	return new Map(records.map(({ id, name }) => [id, name]));
}

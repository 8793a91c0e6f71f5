import { invoke, type Services } from "../invoke.ts";
import { operations } from "../operations.ts";
import type { Principal } from "../principal.ts";
import { retryWhileBusy } from "./retry.ts";

export type OperationName = (typeof operations)[number]["name"];
export type Actor = "admin" | "member";

const BY_NAME = new Map<string, (typeof operations)[number]>(
	operations.map((operation) => [operation.name, operation]),
);

/**
 * All records that the demonstration has made, under keys of its own, and functions that make more.
 */
export interface RecordsByKey {
	organizationId: string;
	/** Runs an operation as every door does, and returns its output. */
	use: (
		name: OperationName,
		input: object,
		as?: Actor,
	) => Promise<Record<string, unknown>>;
	/** Adds a record to the organization and keeps its id under `key`. */
	add: (
		name: OperationName,
		key: string,
		input: object,
		as?: Actor,
	) => Promise<string>;
	/** Changes a record. The caller is a member unless `as` names the admin. */
	update: (
		name: OperationName,
		id: string,
		input: object,
		as?: Actor,
	) => Promise<unknown>;
	link: (one: string, other: string) => Promise<unknown>;
	/**
	 * Returns the id that was kept under `key`. `kind` is the name in results, such as `risk` or
	 * `people`. Throws if no record was made under this key.
	 */
	id: (kind: string, key: string) => string;
}

export function makeRecordsByKey(
	services: Services,
	organizationId: string,
	actors: Record<Actor, Principal>,
): RecordsByKey {
	const ids = new Map<string, string>();
	const use: RecordsByKey["use"] = (name, input, as = "member") => {
		const operation = BY_NAME.get(name);
		if (!operation) throw new Error(`there is no operation ${name}`);
		// A call that fails leaves nothing behind, because it is one transaction.
		return retryWhileBusy(() =>
			invoke(services, actors[as], operation as never, input),
		);
	};
	return {
		organizationId,
		use,
		add: async (name, key, input, as) => {
			const output = await use(
				name,
				{ organization_id: organizationId, ...input },
				as,
			);
			const [kind, record] = Object.entries(output)[0] ?? [];
			const { id } = record as { id: string };
			ids.set(`${kind} ${key}`, id);
			return id;
		},
		update: (name, id, input, as) => use(name, { id, ...input }, as),
		link: (one, other) =>
			use("linkRecords", { record_id: one, linked_record_id: other }),
		id: (kind, key) => {
			const id = ids.get(`${kind} ${key}`);
			if (!id) throw new Error(`the demonstration has no ${kind} ${key}`);
			return id;
		},
	};
}

import { badFields } from "../errors.ts";
import type { Services } from "../invoke.ts";

/** Name in a query string that says where the data comes from. It is no part of an input. */
export const SOURCE_PARAMETER = "read_from";

/** Header of an answer from the replica. It shows all changes up to this moment. */
export const REPLICA_HEADER = "x-replica-as-of";

export interface ReadSource {
	/** The services for this request. */
	services: Services;
	/** Returns headers of the answer. They are known once the data has been read. */
	headers: () => Record<string, string>;
}

/**
 * Takes `read_from` out of a query string. Returns the services that read from there: the primary, or
 * the replica with `read_from=replica`. Every door that lets its callers choose uses this function.
 */
export function takeSource(
	services: Services,
	query: URLSearchParams,
): ReadSource {
	const given = query.getAll(SOURCE_PARAMETER);
	query.delete(SOURCE_PARAMETER);
	const [source = "primary"] = given;
	if (given.length > 1 || !["primary", "replica"].includes(source)) {
		throw wrong("must be primary or replica");
	}
	if (source === "primary") {
		return { services, headers: () => ({}) };
	}
	if (!services.replica) {
		throw wrong(
			"must be primary, because this service has no replica; its operator can set DATABASE_REPLICA_URL",
		);
	}
	const replicaReads = services.replica.beginReads();
	return {
		services: { ...services, replicaReads },
		headers: (): Record<string, string> =>
			replicaReads.moment ? { [REPLICA_HEADER]: replicaReads.moment } : {},
	};
}

const wrong = (message: string) =>
	badFields([{ field: SOURCE_PARAMETER, message }]);

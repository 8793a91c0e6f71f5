import {
	MutationCache,
	QueryCache,
	QueryClient,
	type QueryKey,
	queryOptions,
} from "@tanstack/react-query";
import { MAX_PAGE_SIZE } from "../../src/records/page-sizes.ts";
import {
	ApiError,
	call,
	type InputOf,
	type OperationName,
	type OutputOf,
	request,
} from "./api.ts";
import { getMe } from "./auth.ts";
import { inPast } from "./past.ts";

const MAX_TRIES = 2;
const FRESH_MS = 10_000;
const OUTAGE_MS = 10_000;

let whenSignedOut = () => {};

/**
 * Registers the function that is called when the server no longer knows the session. The router
 * sets it.
 */
export function onSignedOut(then: () => void): void {
	whenSignedOut = then;
}

/**
 * Loads the session and the memberships again, because an error may be the first sign that one of
 * them has ended.
 */
function noticeChange(error: unknown, failed?: { queryKey: QueryKey }): void {
	if (!(error instanceof ApiError)) return;
	// Nobody has lost a right. Asking at once again would never end.
	if (error.isMaintenance) return;
	if (error.status === 401) whenSignedOut();
	// If the list itself fails, asking for it again at once would never end.
	if (failed?.queryKey[0] === "listOrganizations") return;
	if (error.status === 403 || error.status === 404) {
		void queryClient.invalidateQueries({ queryKey: ["listOrganizations"] });
	}
}

export const queryClient = new QueryClient({
	queryCache: new QueryCache({ onError: noticeChange }),
	mutationCache: new MutationCache({ onError: (error) => noticeChange(error) }),
	defaultOptions: {
		// Requests are sent even if the browser reports that it is offline, because it may still reach
		// a service in its own network. If it cannot, the reader sees an error. A paused request would
		// show a placeholder forever.
		mutations: { networkMode: "always" },
		queries: {
			networkMode: "always",
			refetchOnReconnect: true,
			staleTime: FRESH_MS,
			// A page recovers by itself after an outage, because its failed queries are repeated.
			refetchInterval: ({ state: { status, error } }) =>
				status === "error" && error instanceof ApiError && error.mayRetry
					? OUTAGE_MS
					: false,
			retry: (tries, error) =>
				tries < MAX_TRIES && error instanceof ApiError && error.mayRetry,
		},
	},
});

/**
 * Returns the query for an operation that reads data, at the moment that the page shows. Its key
 * begins with the operation's name.
 */
export function operationQuery<Name extends OperationName>(
	name: Name,
	given: InputOf<Name>,
) {
	const input = inPast(name, given);
	return queryOptions({
		queryKey: [name, input] as const,
		queryFn: ({ signal }): Promise<OutputOf<Name>> =>
			call(name, input, { signal }),
	});
}

/**
 * Marks all loaded data as outdated after a write. The queries that are on the screen load again.
 */
export function forgetReadings(): Promise<void> {
	return queryClient.invalidateQueries();
}

export const meQuery = queryOptions({
	queryKey: ["me"],
	queryFn: getMe,
	staleTime: 5 * 60_000,
});

/** Asks whether the service can send a link by mail to a user who has forgotten the password. */
export const forgotPasswordQuery = queryOptions({
	queryKey: ["forgot-password"],
	queryFn: () => request<{ sends_mail: boolean }>("/api/forgot-password"),
});

export const organizationsQuery = queryOptions({
	queryKey: ["listOrganizations"],
	queryFn: async () => {
		const found: OutputOf<"listOrganizations">["organizations"] = [];
		let cursor: string | null = null;
		do {
			const page: OutputOf<"listOrganizations"> = await call(
				"listOrganizations",
				{ size: MAX_PAGE_SIZE, cursor, order_by: { field: "name" } },
			);
			found.push(...page.organizations);
			cursor = page.next_cursor;
		} while (cursor !== null);
		return found;
	},
	staleTime: 60_000,
});

/** The user's organizations that are suspended or wait for their deletion. */
export const closedOrganizationsQuery = queryOptions({
	queryKey: ["listOrganizations", "closed"],
	queryFn: async ({ signal }) => {
		const { closed } = await call("listOrganizations", { size: 1 }, { signal });
		return closed ?? [];
	},
	// The page recovers by itself when the organization is open again. Only a sign-in helps a session
	// that is over, and asking again would count as a use of the session.
	refetchInterval: ({ state }) =>
		state.data?.some(({ why }) => why === "SESSION") ? false : OUTAGE_MS,
});

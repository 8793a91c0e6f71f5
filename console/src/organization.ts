import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { organizationsQuery } from "./queries.ts";

const LAST = "assay-last-organization";

/** The organization in the address, and the reader's permissions in it. */
export function useOrganization() {
	const { data } = useSuspenseQuery(organizationsQuery);
	const { org } = useParams({ strict: false });
	const organization = data.find(({ id }) => id === org);
	if (!organization) throw new Error("this page is not in an organization");
	const { role } = organization;
	return {
		organization,
		organizationId: organization.id,
		role,
		/** May add and change records. */
		mayWrite: role !== "viewer",
		/** May delete records and manage members and settings. */
		mayAdmin: role === "admin",
	};
}

/** Remembers in this browser the organization that `/` opens. */
export function lastOrganization(): string | null {
	try {
		return localStorage.getItem(LAST);
	} catch {
		return null;
	}
}

/**
 * Returns the organization that the shell shows: the one in the address, or on pages without one,
 * such as the account page, the last one.
 */
export function useShownOrganization() {
	const { data = [] } = useQuery(organizationsQuery);
	const { org } = useParams({ strict: false });
	const of = (id: string | null | undefined) =>
		data.find((organization) => organization.id === id);
	return org === undefined ? (of(lastOrganization()) ?? data[0]) : of(org);
}

export function rememberOrganization(id: string): void {
	try {
		localStorage.setItem(LAST, id);
	} catch {
		// Storage is blocked, so the first organization opens next time.
	}
}

const nameKey = (userId: string, id: string) => `assay-name-${userId}-${id}`;

/** Remembers the name for the day when the user no longer belongs to the organization. */
export function rememberName(userId: string, id: string, name: string): void {
	try {
		sessionStorage.setItem(nameKey(userId, id), name);
	} catch {
		// Storage is blocked, so the message does without the name.
	}
}

/** Null if this user has not opened the organization in this browser. */
export function rememberedName(userId: string, id: string): string | null {
	try {
		return sessionStorage.getItem(nameKey(userId, id));
	} catch {
		return null;
	}
}

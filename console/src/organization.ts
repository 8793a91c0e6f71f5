import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { organizationsQuery } from "./queries.ts";

const LAST = "assay-last-organization";

/** The organization of the address, and what the reader may do in it. */
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
		/** Add and change records. */
		mayWrite: role !== "viewer",
		/** Delete, manage members and settings. */
		mayAdmin: role === "admin",
	};
}

/** Which organization `/` leads to: remembered in this browser. */
export function lastOrganization(): string | null {
	try {
		return localStorage.getItem(LAST);
	} catch {
		return null;
	}
}

/**
 * The organization that the shell shows: the one of the address, and on pages of no
 * organization, such as one's account, the one that one came from.
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
		// Storage is refused: the first organization is opened next time.
	}
}

const nameKey = (userId: string, id: string) => `assay-name-${userId}-${id}`;

/** For the day on which somebody no longer belongs to it: it must then still have a name. */
export function rememberName(userId: string, id: string, name: string): void {
	try {
		sessionStorage.setItem(nameKey(userId, id), name);
	} catch {
		// Storage is refused: it is spoken of without its name.
	}
}

/** Null: this person has not been in it here. */
export function rememberedName(userId: string, id: string): string | null {
	try {
		return sessionStorage.getItem(nameKey(userId, id));
	} catch {
		return null;
	}
}

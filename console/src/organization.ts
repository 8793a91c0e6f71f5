import { useSuspenseQuery } from "@tanstack/react-query";
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

export function rememberOrganization(id: string): void {
	try {
		localStorage.setItem(LAST, id);
	} catch {
		// Storage is refused: the first organization is opened next time.
	}
}

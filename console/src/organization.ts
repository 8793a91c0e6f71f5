import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { kinds } from "./kinds.ts";
import { usePast } from "./past.ts";
import { organizationsQuery } from "./queries.ts";

const LAST = "assay-last-organization";

/** Returns the organization in the address, and what the reader may do in it. */
export function useOrganization() {
	const { data } = useSuspenseQuery(organizationsQuery);
	const { org, kind } = useParams({ strict: false });
	const organization = data.find(({ id }) => id === org);
	if (!organization)
		throw new Error("this page does not belong to an organization");
	const { role, writable_registers, reads_audit_log } = organization;
	const isWritable = (kind: string) =>
		writable_registers === null ||
		writable_registers.some((name) => name === toolsetOfKind(kind));
	const past = usePast();
	const day = past.isShown ? past.day : undefined;
	const mayWriteSome = role !== "viewer" && !day;
	return {
		organization,
		organizationId: organization.id,
		role,
		/** The past day that the page shows, or undefined for the present. */
		day,
		/** True if the reader may add and change records. Nobody changes the past. */
		mayWrite: mayWriteSome && (kind === undefined || isWritable(kind)),
		/** Returns true if the reader may add and change records of this register. */
		mayWriteKind: (kind: string) => mayWriteSome && isWritable(kind),
		/** True if the reader may delete records and manage members and settings. */
		mayAdmin: role === "admin" && !day,
		/** True for administrators and auditors. */
		mayReadAuditLog: reads_audit_log,
	};
}

/** Returns the toolset of a register, which has the name of its records, such as "data". */
function toolsetOfKind(kind: string): string | undefined {
	return kinds.find((one) => one.kind === kind)?.key.many;
}

/** Returns the organization that was opened last in this browser. The address `/` opens it. */
export function lastOrganization(): string | null {
	try {
		return localStorage.getItem(LAST);
	} catch {
		return null;
	}
}

/**
 * Returns the organization that the shell shows. On pages without an organization in their address,
 * such as the account page, it is the one that was opened last.
 */
export function useShownOrganization() {
	const { data = [] } = useQuery(organizationsQuery);
	const org = useParams({ strict: false, select: (params) => params.org });
	const of = (id: string | null | undefined) =>
		data.find((organization) => organization.id === id);
	return org === undefined ? (of(lastOrganization()) ?? data[0]) : of(org);
}

export function rememberOrganization(id: string): void {
	try {
		localStorage.setItem(LAST, id);
	} catch {
		// The browser blocks the storage, so the first organization opens next time.
	}
}

const nameKey = (userId: string, id: string) => `assay-name-${userId}-${id}`;

/**
 * Stores the organization's name, so that a message can still name it after the membership has
 * ended.
 */
export function rememberName(userId: string, id: string, name: string): void {
	try {
		sessionStorage.setItem(nameKey(userId, id), name);
	} catch {
		// The browser blocks the storage, so the message will not name the organization.
	}
}

/**
 * Returns the stored name of an organization. Returns null if this user has not opened it in this
 * browser.
 */
export function rememberedName(userId: string, id: string): string | null {
	try {
		return sessionStorage.getItem(nameKey(userId, id));
	} catch {
		return null;
	}
}

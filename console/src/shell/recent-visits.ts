import type { RegisterKind } from "../register-kinds.ts";

export interface Visit {
	kind: RegisterKind | "device";
	id: string;
}

const KEPT = 8;
const keyOf = (organizationId: string) => `assay-recent-${organizationId}`;

/**
 * Returns the records that were opened last in this browser, newest first. Names are not stored,
 * because they may change.
 */
export function recentVisits(organizationId: string): Visit[] {
	try {
		const kept = localStorage.getItem(keyOf(organizationId));
		return kept ? (JSON.parse(kept) as Visit[]) : [];
	} catch {
		return [];
	}
}

export function rememberVisit(organizationId: string, visit: Visit): void {
	const others = recentVisits(organizationId).filter(
		({ id }) => id !== visit.id,
	);
	try {
		localStorage.setItem(
			keyOf(organizationId),
			JSON.stringify([visit, ...others].slice(0, KEPT)),
		);
	} catch {
		// The browser blocks the storage, so the visit is not remembered.
	}
}

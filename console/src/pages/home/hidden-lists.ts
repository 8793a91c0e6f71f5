/** Lists of the home page that a reader can hide. The browser remembers it for each organization. */
export type HideableList = "first-steps" | "next-steps" | "gaps";

const keyOf = (list: HideableList, organizationId: string) =>
	`assay-${list}-${organizationId}`;

export function isHidden(list: HideableList, organizationId: string): boolean {
	try {
		return localStorage.getItem(keyOf(list, organizationId)) === "over";
	} catch {
		return false;
	}
}

export function rememberHidden(
	list: HideableList,
	organizationId: string,
): void {
	try {
		localStorage.setItem(keyOf(list, organizationId), "over");
	} catch {
		// The browser blocks the storage, so the list is shown again next time.
	}
}

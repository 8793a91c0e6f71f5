/**
 * Columns that a reader chose for a list. The browser remembers them for all organizations, so that
 * the list has them again when the reader comes back by the menu.
 */

/** `path` is the path of the list, such as `/o/2f…/r/task`. */
const keyOf = (path: string) =>
	`assay-columns-${path.replace(/^\/o\/[^/]+\//, "")}`;

/** Returns the ids of the columns, or undefined if the list has its usual ones. */
export function rememberedColumns(path: string): string[] | undefined {
	try {
		return localStorage.getItem(keyOf(path))?.split(",");
	} catch {
		return undefined;
	}
}

export function rememberColumns(
	path: string,
	ids: readonly string[] | undefined,
): void {
	try {
		if (ids) localStorage.setItem(keyOf(path), ids.join(","));
		else localStorage.removeItem(keyOf(path));
	} catch {
		// The browser blocks the storage, so only the address has the columns.
	}
}

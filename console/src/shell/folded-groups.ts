import { useState } from "react";

const STORED = "assay-folded-groups";

/** Whether each group of the navigation is folded, by its name. */
type Folded = Readonly<Record<string, boolean>>;

/** Returns what the reader has folded and opened in this browser, and a function that changes it. */
export function useFoldedGroups(): [
	Folded,
	(name: string, isFolded: boolean) => void,
] {
	const [folded, setFolded] = useState(stored);
	return [
		folded,
		(name, isFolded) => {
			const changed = { ...folded, [name]: isFolded };
			setFolded(changed);
			try {
				localStorage.setItem(STORED, JSON.stringify(changed));
			} catch {
				// The browser blocks the storage, so the choice lasts until the page is left.
			}
		},
	];
}

function stored(): Folded {
	try {
		const value: unknown = JSON.parse(localStorage.getItem(STORED) ?? "{}");
		return typeof value === "object" && value !== null ? (value as Folded) : {};
	} catch {
		return {};
	}
}

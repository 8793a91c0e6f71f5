/**
 * Throws unless the changelog has an entry for the version, with a date and with notes for the
 * upgrade.
 */
export function checkChangelog(changelog: string, version: string): void {
	const heading = headingOf(version);
	const entry = findEntry(changelog, heading);
	if (!entry) {
		throw new Error(
			`CHANGELOG.md has no entry that begins with "${heading}" and a date; move what stands under Unreleased there`,
		);
	}
	const date = entry.slice(heading.length).split("\n", 1)[0] ?? "";
	if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) {
		throw new Error(
			`the entry of ${version} in CHANGELOG.md has the date "${date}"; it must be like 2026-11-24`,
		);
	}
	if (!/^### Upgrading\n+\S/m.test(entry)) {
		throw new Error(
			`the entry of ${version} in CHANGELOG.md has no section "### Upgrading"; say there what an operator must do, even if it is nothing`,
		);
	}
}

/** Throws if notes stand under Unreleased. The files of a release would lack them. */
export function checkNothingUnreleased(changelog: string): void {
	const notes = findEntry(changelog, UNRELEASED)?.slice(UNRELEASED.length);
	if (notes?.trim()) {
		throw new Error(
			"CHANGELOG.md has notes under Unreleased; move them to the entry of the version",
		);
	}
}

/** Returns the changelog with what stands under Unreleased as the entry of a version to try. */
export function giveToPreview(
	changelog: string,
	version: string,
	date: string,
): string {
	return changelog.replace(
		/^## \[Unreleased\]\n/m,
		`## [Unreleased]\n\n${headingOf(version)}${date} (preview)\n`,
	);
}

/** Returns what the changelog says about the version, with its heading. */
export function entryOf(changelog: string, version: string): string {
	const entry = findEntry(changelog, headingOf(version));
	if (!entry) throw new Error(`CHANGELOG.md has no entry of ${version}`);
	return `${entry.trimEnd()}\n`;
}

const UNRELEASED = "## [Unreleased]";
const headingOf = (version: string) => `## [${version}] - `;

function findEntry(changelog: string, heading: string): string | undefined {
	return changelog.split(/^(?=## )/m).find((part) => part.startsWith(heading));
}

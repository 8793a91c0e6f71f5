import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown, word } from "../check.ts";
import { whyFailed } from "../failed-command.ts";

/**
 * The day from which a major version got no more security updates: that of the release of its third
 * successor. Apple promises no dates; it has kept to the current version and the two before since
 * 2012 (endoflife.date/macos shows each).
 */
const ENDED: Record<number, string> = {
	11: "2023-09-26",
	12: "2024-09-16",
	13: "2025-09-15",
	14: "2026-09-14",
};

/** Versions whose successors are not all out yet, by the year in which the first of them came. */
const RELEASE_YEAR: Record<number, number> = { 15: 2024, 26: 2025, 27: 2026 };

/**
 * Whether this major version still gets security updates. The end of the ones that still do is
 * expected in the September three years after their release; past it they are UNKNOWN and not FAIL,
 * as this program is then too old to know. From 26 on a version is named for the year after its
 * release, so a newer one than this program knows is judged the same way.
 */
export async function checkOsVersion(host: Host): Promise<CheckOutcome> {
	const result = await host.run("sw_vers");
	const problem = whyFailed(result, host);
	if (problem !== undefined) return unknown(problem);
	const version = versionField(result.stdout, "ProductVersion");
	const major =
		version === undefined
			? undefined
			: Number(/^\d{2}(?=\.|$)/.exec(version)?.[0]);
	if (version === undefined || major === undefined || Number.isNaN(major)) {
		return unknown("unrecognized_output");
	}
	const build = versionField(result.stdout, "BuildVersion");
	const evidence = { version, ...(build === undefined ? {} : { build }) };

	if (major < 11) return fail({ ...evidence, supported: false });
	const ended = ENDED[major];
	if (ended !== undefined)
		return fail({ ...evidence, supported: false, supported_until: ended });
	const year = RELEASE_YEAR[major] ?? (major > 27 ? 1999 + major : undefined);
	if (year === undefined) return unknown("version_not_known", evidence);
	const until = `${year + 3}-09`;
	const estimated = { ...evidence, supported_until: until, estimated: true };
	// Releases have come as late as November.
	return host.now < new Date(`${year + 3}-12-01T00:00:00Z`)
		? pass({ ...estimated, supported: true })
		: unknown("support_not_known", estimated);
}

/** "ProductVersion:\t\t15.3"; the names are followed by tabs or, in old versions, one. */
export function versionField(
	output: string,
	field: "ProductVersion" | "BuildVersion",
): string | undefined {
	return word(
		new RegExp(`^${field}:[ \\t]+(\\S{1,64})[ \\t]*$`, "m").exec(output)?.[1],
	);
}

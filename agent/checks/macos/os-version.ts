import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown, word } from "../check.ts";
import { whyFailed } from "../failed-command.ts";

/**
 * The first day without security updates for each major version, which is the day on which its
 * third successor came out. Apple promises no dates, but since 2012 it has supported the current
 * version and the two before it (endoflife.date/macos shows each).
 */
const ENDED: Record<number, string> = {
	11: "2023-09-26",
	12: "2024-09-16",
	13: "2025-09-15",
	14: "2026-09-14",
};

/** The release year of each version whose third successor is not out yet. */
const RELEASE_YEAR: Record<number, number> = { 15: 2024, 26: 2025, 27: 2026 };

/**
 * Checks if this major version still gets security updates. A version is expected to lose support
 * in the September three years after its release. After that the result is UNKNOWN and not FAIL,
 * because this agent is then too old to know. From 26 on, each version is named for the year after
 * its release, so the check can also judge versions that are newer than the agent.
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
	// The result stays PASS until the end of November, because some releases came that late.
	return host.now < new Date(`${year + 3}-12-01T00:00:00Z`)
		? pass({ ...estimated, supported: true })
		: unknown("support_not_known", estimated);
}

/**
 * Reads a field such as "ProductVersion:\t\t15.3". Older versions of macOS print one tab after the
 * name.
 */
export function versionField(
	output: string,
	field: "ProductVersion" | "BuildVersion",
): string | undefined {
	return word(
		new RegExp(`^${field}:[ \\t]+(\\S{1,64})[ \\t]*$`, "m").exec(output)?.[1],
	);
}

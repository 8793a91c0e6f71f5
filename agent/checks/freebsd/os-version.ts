import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";
import { runForText } from "../run-for-text.ts";

/**
 * The last day of security updates for each release (freebsd.org/security, read in November 2026).
 * A release is supported for about nine months. A branch is supported for five years up to 14 and
 * for four years from 15 on.
 */
const SUPPORTED_UNTIL: Record<string, string> = {
	"13.3": "2024-12-31",
	"13.4": "2025-06-30",
	"13.5": "2026-04-30",
	"14.0": "2024-09-30",
	"14.1": "2025-03-31",
	"14.2": "2025-09-30",
	"14.3": "2026-06-30",
	"14.4": "2026-12-31",
	"14.5": "2027-06-30",
	"15.0": "2026-09-30",
	"15.1": "2027-03-31",
};

/**
 * The last day of support for each stable branch. Users build or download these versions
 * themselves.
 */
const BRANCH_UNTIL: Record<string, string> = {
	"13": "2026-04-30",
	"14": "2028-11-30",
	"15": "2029-12-31",
};

const OLDEST_KNOWN = 13;

/**
 * Checks if the installed userland still gets security updates. If a release is newer than this
 * program, the end of its support comes from the data that freebsd-update received from its server.
 * A replaced kernel that has not been started yet appears in the evidence, but the check does not
 * judge it.
 */
export async function checkOsVersion(host: Host): Promise<CheckOutcome> {
	const told = await host.run("freebsd-version", ["-u"]);
	const problem = whyFailed(told, host);
	if (problem !== undefined) return unknown(problem);
	const version = parseVersion(told.stdout.trim());
	if (version === undefined) return unknown("unrecognized_output");
	const { name, release, major, branch } = version;
	const evidence = {
		version: name,
		...((await isRestartPending(host)) ? { restart_pending: true } : {}),
	};
	const isStable = branch === "STABLE" || branch === "PRERELEASE";
	if (!isStable && branch !== "RELEASE")
		return unknown("development_version", evidence);
	if (major < OLDEST_KNOWN) return fail({ ...evidence, supported: false });
	const until = isStable
		? BRANCH_UNTIL[major]
		: (SUPPORTED_UNTIL[release] ??
			(await readToldEnd(host, `${release}-RELEASE`)));
	if (until === undefined) {
		return major === OLDEST_KNOWN
			? fail({
					...evidence,
					supported: false,
					supported_until: BRANCH_UNTIL[major],
				})
			: unknown("release_not_known", evidence);
	}
	const found = { ...evidence, supported_until: until };
	return host.now <= new Date(`${until}T23:59:59Z`)
		? pass({ ...found, supported: true })
		: fail({ ...found, supported: false });
}

/**
 * Returns true if the kernel on disk (first line) differs from the running one (second line). A
 * jail has no kernel of its own.
 */
async function isRestartPending(host: Host): Promise<boolean> {
	const told = await runForText(host, "freebsd-version", ["-kr"]);
	const [installed, runs] = (told?.trim().split("\n", 3) ?? []).map(
		parseVersion,
	);
	return (
		installed !== undefined &&
		runs !== undefined &&
		installed.name !== runs.name
	);
}

/** Parses a version such as "14.3-RELEASE-p5", "15.0-STABLE", "16.0-CURRENT" or "15.1-BETA2". */
export function parseVersion(line: string | undefined) {
	const [name, release, major, branch] =
		/^((\d{1,2})\.\d{1,2})-([A-Z]{2,10})\d{0,2}(?:-p\d{1,3})?$/
			.exec(line ?? "")
			?.slice(0, 4) ?? [];
	if (name === undefined || release === undefined || branch === undefined)
		return undefined;
	return { name, release, major: Number(major), branch };
}

/**
 * Reads the end of support from the data that freebsd-update last downloaded, such as
 * "freebsd-update|amd64|15.2-RELEASE|3|…|1790726400". The last field is the end in seconds since
 * 1970. Only root may read the file.
 */
async function readToldEnd(
	host: Host,
	release: string,
): Promise<string | undefined> {
	const file = await host.readFile("/var/db/freebsd-update/tag");
	if (file.kind !== "text") return undefined;
	const [, name, seconds] =
		/^freebsd-update\|[a-z0-9]{1,16}\|([0-9A-Z.-]{1,32})\|\d{1,4}\|[0-9a-f]{64}\|(\d{9,11})\s*$/.exec(
			file.text,
		) ?? [];
	if (name !== release) return undefined;
	return new Date(Number(seconds) * 1000).toISOString().slice(0, 10);
}

import {
	CHECK_KEYS,
	type CheckKey,
	type Evidence,
	type Platform,
	POSTURE_STATUSES,
	type PostureStatus,
} from "../../src/devices/terms.ts";
import {
	type ChoiceName,
	DEFAULT_THRESHOLDS,
	type ThresholdName,
	type Thresholds,
} from "../../src/devices/thresholds.ts";
import type { Host } from "../host.ts";
import {
	type Check,
	type CheckOutcome,
	notApplicable,
	type PlatformChecks,
	unknown,
} from "./check.ts";

export const CHECK_TIMEOUT_MS = 15_000;

/** One result in a report, without the report's id. */
export interface CheckResult {
	check_key: string;
	status: PostureStatus;
	evidence: Evidence;
	/** The time of the check, in RFC 3339 format. */
	observed_at: string;
}

export interface RunOptions {
	/**
	 * Stops the run: when it aborts, no further check starts, and the results leave out the
	 * unfinished ones.
	 */
	signal?: AbortSignal | undefined;
	timeoutMs?: number;
	/** The thresholds of the organization, or the defaults if none are given. */
	thresholds?: Thresholds | undefined;
	/** The agent's notes about updates that wait, if it has a folder for them. */
	pendingSince?: Host["pendingSince"] | undefined;
	/**
	 * Called with the key of a check that threw. The error is left out, because it may quote texts
	 * from the device.
	 */
	onCrash?: (check: CheckKey) => void;
}

/** Loads the checks of one platform, without the code of the other platforms. */
export async function loadChecks(platform: Platform): Promise<PlatformChecks> {
	switch (platform) {
		case "DARWIN":
			return (await import("./macos/all.ts")).MACOS_CHECKS;
		case "LINUX":
			return (await import("./linux/all.ts")).LINUX_CHECKS;
		case "FREEBSD":
			return (await import("./freebsd/all.ts")).FREEBSD_CHECKS;
		case "WINDOWS":
			return (await import("./windows/all.ts")).WINDOWS_CHECKS;
	}
}

/**
 * Runs the checks one after the other, so that the user of the device does not notice them. The
 * result contains every canonical check, with NOT_APPLICABLE for those that the platform does not
 * have. The returned promise never rejects. A check that throws or does not end is UNKNOWN, and
 * `boundEvidence` limits the evidence of every check.
 */
export async function runChecks(
	checks: PlatformChecks,
	host: Host,
	options: RunOptions = {},
): Promise<CheckResult[]> {
	const results: CheckResult[] = [];
	for (const key of CHECK_KEYS) {
		if (options.signal?.aborted) break;
		const { status, evidence } = await runOne(key, checks[key], host, options);
		if (options.signal?.aborted) break;
		results.push({
			check_key: key,
			status,
			evidence,
			observed_at: host.now.toISOString(),
		});
	}
	return results;
}

async function runOne(
	key: CheckKey,
	check: Check | undefined,
	host: Host,
	{
		signal,
		timeoutMs = CHECK_TIMEOUT_MS,
		thresholds = DEFAULT_THRESHOLDS,
		pendingSince = host.pendingSince,
		onCrash,
	}: RunOptions,
): Promise<CheckOutcome> {
	if (!check) return notApplicable("not_checked_here");
	const judgedBy: Partial<Thresholds> = {};
	const threshold = (name: ThresholdName) => {
		judgedBy[name] = thresholds[name];
		return thresholds[name];
	};
	const choice = <Name extends ChoiceName>(name: Name) => {
		judgedBy[name] = thresholds[name];
		return thresholds[name];
	};
	const over = new AbortController();
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<CheckOutcome>((resolve) => {
		const stop = () => resolve(unknown("timed_out"));
		timer = setTimeout(stop, timeoutMs);
		signal?.addEventListener("abort", stop, { signal: over.signal });
	});
	try {
		const outcome = await Promise.race([
			check(untilOver(host, over.signal, { threshold, choice, pendingSince })),
			limit,
		]);
		if (!POSTURE_STATUSES.includes(outcome.status)) throw new TypeError();
		const isJudged =
			(outcome.status === "PASS" || outcome.status === "FAIL") &&
			Object.keys(judgedBy).length > 0;
		return {
			status: outcome.status,
			evidence: boundEvidence({
				...outcome.evidence,
				...(isJudged && { threshold: judgedBy }),
			}),
		};
	} catch {
		onCrash?.(key);
		return unknown("check_crashed");
	} finally {
		clearTimeout(timer);
		over.abort();
	}
}

/**
 * Returns the host for one check. When the check's time is over, this host runs no more programs.
 */
function untilOver(
	host: Host,
	over: AbortSignal,
	own: Pick<Host, "threshold" | "choice" | "pendingSince">,
): Host {
	return {
		platform: host.platform,
		isPrivileged: host.isPrivileged,
		get now() {
			return host.now;
		},
		run: async (program, args, options) =>
			over.aborted
				? { ended: "timed_out", exitCode: -1, stdout: "", stderr: "" }
				: host.run(program, args, options),
		readFile: async (path) =>
			over.aborted ? { kind: "unreadable" } : host.readFile(path),
		readFileAs: async (user, path) =>
			over.aborted ? { kind: "unreadable" } : host.readFileAs(user, path),
		listFolder: async (path) =>
			over.aborted ? { kind: "unreadable" } : host.listFolder(path),
		...own,
	};
}

const MAX_BYTES = 4096;
const MAX_DEPTH = 4;
const MAX_FIELDS = 40;
const MAX_TEXT = 200;

/**
 * Returns evidence that may be sent. It has at most 4 KiB of JSON, 4 levels, 40 fields or elements
 * in each level, and 200 characters in each text, without control characters. Most checks stay far
 * below these limits, but a server may have hundreds of volumes. The field `truncated` says that
 * something was left out.
 */
export function boundEvidence(evidence: Evidence): Evidence {
	let isCut = false;
	const bound = (value: unknown, depth: number): unknown => {
		if (typeof value === "string") {
			isCut ||= value.length > MAX_TEXT;
			return boundText(value);
		}
		if (typeof value === "number") return Number.isFinite(value) ? value : null;
		if (typeof value === "boolean" || value === null) return value;
		if (typeof value !== "object") return undefined;
		if (depth === 0) {
			isCut = true;
			return undefined;
		}
		isCut ||= Object.keys(value).length > MAX_FIELDS;
		if (Array.isArray(value)) {
			return value
				.slice(0, MAX_FIELDS)
				.map((element) => bound(element, depth - 1))
				.filter((element) => element !== undefined);
		}
		const fields = mostTelling(Object.entries(value), MAX_FIELDS)
			.map(([name, inner]): Field => [boundText(name), bound(inner, depth - 1)])
			.filter(([, inner]) => inner !== undefined);
		return Object.fromEntries(fields);
	};
	let fields: Field[] = Object.entries(bound(evidence, MAX_DEPTH) ?? {});
	const all = () =>
		Object.fromEntries(isCut ? [...fields, ["truncated", true]] : fields);
	while (fields.length > 0 && !fits(all())) {
		isCut = true;
		fields = mostTelling(fields, fields.length - 1);
	}
	return all();
}

type Field = [name: string, value: unknown];

/**
 * Returns at most `count` fields, in their order. Lists stay longest, because they sum up the
 * others, such as the names of all volumes that are not encrypted. A yes or no about a single part
 * goes first.
 */
function mostTelling(fields: Field[], count: number): Field[] {
	const rank = ([, value]: Field) =>
		typeof value === "object" ? 0 : typeof value === "boolean" ? 2 : 1;
	const kept = new Set(
		fields.toSorted((a, b) => rank(a) - rank(b)).slice(0, count),
	);
	return fields.filter((field) => kept.has(field));
}

const fits = (value: unknown) =>
	Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES;

const boundText = (text: string) =>
	text
		.slice(0, MAX_TEXT)
		.toWellFormed()
		.replace(/\p{Cc}/gu, "");

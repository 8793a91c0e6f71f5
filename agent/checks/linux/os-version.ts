import { DAY_MS } from "../../../src/units.ts";
import type { Host } from "../../host.ts";
import type { CheckOutcome } from "../check.ts";
import { fail, pass, unknown, word } from "../check.ts";
import { runForText } from "../run-for-text.ts";
import { readOsRelease } from "./os-release.ts";
import {
	CODENAMES,
	DISTRIBUTIONS,
	type Distribution,
	ROLLING,
} from "./support-dates.ts";

/**
 * Returns PASS while the distribution provides security updates for the installed release. The end
 * date comes from the system itself if it has one (SUPPORT_END of os-release, which Fedora, Amazon
 * Linux and NixOS keep up to date), or else from our table. A rolling distribution always passes:
 * this means that updates exist, not that they are installed. A release that is not in the table is
 * UNKNOWN, not FAIL.
 */
export async function checkOsVersion(host: Host): Promise<CheckOutcome> {
	const release = await readOsRelease(host);
	if (!release) return unknown("unrecognized_output");
	const id = release.get("ID") ?? "";
	const version = word(release.get("VERSION_ID"));
	const evidence = { distribution: word(id), version };

	const own = release.get("SUPPORT_END") ?? "";
	if (isDate(own)) return judge(host, own, evidence);
	if (isRolling(id, release)) return pass({ ...evidence, rolling: true });

	const codename =
		release.get("UBUNTU_CODENAME") ?? release.get("DEBIAN_CODENAME") ?? "";
	const base = Object.hasOwn(CODENAMES, codename)
		? CODENAMES[codename]
		: undefined;
	const [name, number] = Object.hasOwn(DISTRIBUTIONS, id)
		? [id, version]
		: id === "raspbian"
			? ["debian", version]
			: (base ?? ["", undefined]);
	const distribution = Object.hasOwn(DISTRIBUTIONS, name)
		? DISTRIBUTIONS[name]
		: undefined;
	if (!distribution) return unknown("distribution_not_known", evidence);
	const parts = number?.split(".").slice(0, distribution.parts) ?? [];
	if (parts.length === 0 || !parts.every((part) => /^\d{1,4}$/.test(part))) {
		return unknown("release_not_known", evidence);
	}
	const key = parts.join(".");
	const based = base && name !== id ? { based_on: `${name}-${key}` } : {};
	const until = Object.hasOwn(distribution.supportedUntil, key)
		? distribution.supportedUntil[key]
		: undefined;
	if (until !== undefined) {
		const outcome = judge(host, until, { ...evidence, ...based });
		return outcome.status === "FAIL" && name === "ubuntu"
			? judgeExtended(host, outcome)
			: outcome;
	}
	return judgeUnlisted(host, distribution, key, { ...evidence, ...based });
}

function isRolling(id: string, release: Map<string, string>): boolean {
	if (ROLLING.has(id)) return true;
	const version = release.get("VERSION_ID");
	// Debian testing and unstable have no VERSION_ID until they are released.
	if (id === "debian") {
		return version === undefined && release.get("PRETTY_NAME") !== undefined;
	}
	if (id === "fedora") {
		return release.get("REDHAT_BUGZILLA_PRODUCT_VERSION") === "rawhide";
	}
	return id === "alpine" && /^\d+\.\d+(\.\d+)?_alpha/.test(version ?? "");
}

function judge(host: Host, until: string, evidence: object): CheckOutcome {
	const outcome = { ...evidence, supported_until: until };
	return isPast(host, until) ? fail(outcome) : pass(outcome);
}

/**
 * Judges extended support. After Ubuntu's free support has ended, machines with Ubuntu Pro still
 * get updates.
 */
async function judgeExtended(
	host: Host,
	outcome: CheckOutcome,
): Promise<CheckOutcome> {
	const text = await runForText(host, "pro", ["status", "--format", "json"]);
	if (text === undefined) return outcome;
	let status: unknown;
	try {
		status = JSON.parse(text);
	} catch {
		return outcome;
	}
	if (typeof status !== "object" || status === null) return outcome;
	if (!("attached" in status && status.attached === true)) return outcome;
	const services = "services" in status ? status.services : undefined;
	const isExtended =
		Array.isArray(services) &&
		services.some(
			(service) =>
				service?.name === "esm-infra" && service.status === "enabled",
		);
	return isExtended
		? pass({ ...outcome.evidence, extended_support: "ubuntu-pro" })
		: outcome;
}

function judgeUnlisted(
	host: Host,
	distribution: Distribution,
	key: string,
	evidence: object,
): CheckOutcome {
	const known = Object.keys(distribution.supportedUntil);
	if (known.every((other) => compare(other, key) > 0)) {
		return fail({ ...evidence, older_than_supported: true });
	}
	const isNewest = known.every((other) => compare(other, key) < 0);
	const least = new Date(distribution.newestReleased);
	least.setUTCMonth(least.getUTCMonth() + distribution.leastMonths);
	const until = least.toISOString().slice(0, 10);
	return isNewest && !isPast(host, until)
		? pass({ ...evidence, supported_until_at_least: until })
		: unknown("release_not_known", { ...evidence });
}

/** Compares versions as numbers, part by part, so that 9 comes before 10 and 15.7 before 16.0. */
function compare(a: string, b: string): number {
	const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
	for (const [index, part] of left.entries()) {
		const other = right[index] ?? 0;
		if (part !== other) return part - other;
	}
	return 0;
}

const isDate = (text: string) =>
	/^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Returns true if the day is over. On the last day itself the release is still supported. */
const isPast = (host: Host, day: string) =>
	host.now.getTime() >= Date.parse(day) + DAY_MS;

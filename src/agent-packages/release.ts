import { PLATFORMS, type Platform } from "../devices/terms.ts";

/** The version of a release of the agent. */
export const RELEASE = /^\d{1,3}\.\d{1,3}\.\d{1,5}$/;

/** Returns true if `version` is a release that is later than `than`. */
export function isLater(version: string, than: string): boolean {
	if (!RELEASE.test(version) || !RELEASE.test(than)) return false;
	const [a, b] = [version, than].map((each) => each.split(".").map(Number));
	for (let at = 0; at < 3; at++) {
		const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
		if (difference !== 0) return difference > 0;
	}
	return false;
}

/** Versions of the agent by platform. */
export type Releases = Partial<Record<Platform, string>>;

/**
 * Parses one version for all platforms, such as "1.4.0", or one for each, such as "LINUX 1.4.0,
 * WINDOWS 1.3.0". Returns undefined for any other text.
 */
export function readReleases(text: string): Releases | undefined {
	if (RELEASE.test(text)) {
		return Object.fromEntries(PLATFORMS.map((platform) => [platform, text]));
	}
	const releases: Releases = {};
	for (const part of text.split(",")) {
		const [name = "", version = "", ...more] = part.trim().split(" ");
		const platform = PLATFORMS.find((one) => one === name);
		if (!platform || !RELEASE.test(version) || more.length > 0)
			return undefined;
		releases[platform] = version;
	}
	return releases;
}

/** Writes versions in the form that `readReleases` parses. */
export const writeReleases = (releases: Releases): string =>
	Object.entries(releases)
		.map(([platform, version]) => `${platform} ${version}`)
		.join(", ");

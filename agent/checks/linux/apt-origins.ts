import { type Answer, allOf, anyOf } from "../answer.ts";

/** A setting of apt. A list has one for each of its values. */
type Setting = readonly [name: string, value: string];

const ORIGINS = /^Unattended-Upgrade::(Allowed-Origins|Origins-Pattern)::/;

/**
 * Returns whether unattended-upgrades may install the security updates of this distribution, or
 * undefined if its patterns do not tell, such as one with the address of a mirror. A pattern has
 * conditions for the fields of a Release file. The security updates are allowed if they meet all
 * conditions of one pattern (README of unattended-upgrades).
 */
export function allowsSecurityUpdates(
	settings: readonly Setting[],
	release: ReadonlyMap<string, string>,
): Answer {
	const archive = securityArchive(release);
	return anyOf(
		settings
			.filter(([name]) => ORIGINS.test(name))
			.map(([name, value]) => {
				const answer = allOf(
					parsePattern(name, value).map((one) => meets(archive, one)),
				);
				return answer === undefined && /security|ESM/i.test(value)
					? true
					: answer;
			}),
	);
}

type Field = "origin" | "label" | "suite" | "codename";

/** The names of the fields in patterns. */
const FIELDS: Record<string, Field> = {
	o: "origin",
	origin: "origin",
	l: "label",
	label: "label",
	a: "suite",
	suite: "suite",
	archive: "suite",
	n: "codename",
	codename: "codename",
};

interface Archive {
	/** The names that `${distro_id}` and `${distro_codename}` stand for. */
	id: string;
	codename: string;
	/** Names in the Release file of the archive with the security updates. */
	is: Partial<Record<Field, string>>;
	/** Names that only the distribution's other archives have. */
	isNot: Partial<Record<Field, RegExp>>;
}

const DEBIAN_WITH_SECURITY_CODENAMES = 11;

/**
 * Describes the archive of the distribution's security updates. An organization's mirror may use
 * other names, so a name that is not in the description proves nothing.
 */
function securityArchive(release: ReadonlyMap<string, string>): Archive {
	const codename = release.get("VERSION_CODENAME") ?? "";
	const known = /^[a-z]+$/.test(codename) ? codename : "-";
	const isOfRelease = (...suffixes: string[]) => {
		const suffix = suffixes.join("|");
		return new RegExp(`^${known}(${suffix})$`);
	};
	const id = release.get("ID");
	if (id === "ubuntu") {
		// All security updates are in the suite for other updates too.
		return {
			id: "Ubuntu",
			codename,
			is: { origin: "Ubuntu", label: "Ubuntu", codename },
			isNot: { suite: isOfRelease("", "-backports", "-proposed") },
		};
	}
	if (
		id === "debian" &&
		Number(release.get("VERSION_ID")) >= DEBIAN_WITH_SECURITY_CODENAMES
	) {
		return {
			id: "Debian",
			codename,
			is: {
				origin: "Debian",
				label: "Debian-Security",
				codename: `${codename}-security`,
			},
			isNot: {
				label: /^Debian( Backports)?$/,
				suite: /^(oldold|old)?stable(-updates|-backports|-proposed-updates)?$/,
				codename: isOfRelease(
					"",
					"-updates",
					"-backports",
					"-proposed-updates",
				),
			},
		};
	}
	return { id: "", codename, is: {}, isNot: {} };
}

/** Archives of other makers. They do not have the distribution's updates. */
const OTHER_MAKERS = /^(LP-PPA-|LP-PPA$|Google|Docker$|microsoft)/i;

interface Condition {
	key: string;
	wanted: string;
}

/** Parses `Ubuntu:noble-security` or `origin=Debian,label=Debian-Security`. */
function parsePattern(name: string, value: string): Condition[] {
	if (name.includes("::Allowed-Origins::")) {
		const text = value.trim();
		const end = text.search(/[:\s]/);
		return [
			{ key: "origin", wanted: end < 0 ? "" : text.slice(0, end) },
			{ key: "suite", wanted: end < 0 ? "" : text.slice(end + 1) },
		];
	}
	return value.split(",").map((text) => {
		const [, key = "", wanted = ""] = /^([^=]*)=(.*)$/.exec(text) ?? [];
		return { key: key.trim(), wanted: wanted.trim() };
	});
}

function meets(archive: Archive, { key, wanted }: Condition): Answer {
	const field = Object.hasOwn(FIELDS, key) ? FIELDS[key] : undefined;
	if (wanted === "*" && (field || /^(site|c|component)$/.test(key)))
		return true;
	if (!field || wanted === "") return undefined;
	const text = wanted
		.replaceAll(/\$\{distro_id\}/g, archive.id)
		.replaceAll(/\$\{distro_codename\}/g, archive.codename);
	if (field === "origin" && OTHER_MAKERS.test(text)) return false;
	const actual = archive.is[field];
	if (actual !== undefined && isLike(actual, text)) return true;
	return archive.isNot[field]?.test(text) ? false : undefined;
}

/** Returns true if a text matches a pattern, which may begin or end with `*`. */
function isLike(text: string, pattern: string): boolean {
	const [first = "", last, ...more] = pattern.split("*");
	if (last === undefined) return text === pattern;
	return (
		more.length === 0 &&
		text.length >= first.length + last.length &&
		text.startsWith(first) &&
		text.endsWith(last)
	);
}

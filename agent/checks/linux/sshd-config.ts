import type { Host } from "../../host.ts";

/** Longer than any that a person writes. */
const MAX_LINE = 4096;

export interface SshdFiles {
	/** By keyword in lower case; the first value stands, as in sshd. */
	values: Map<string, string>;
	/** All ListenAddress values, for they add up. */
	addresses: string[];
	/** Keywords with their values from Match blocks, which hold for some connections only. */
	conditional: [keyword: string, value: string][];
}

/**
 * The settings of sshd as its files give them, by the rules of sshd_config(5). `denied` when one
 * of them may only be read by root, `unclear` when one is not there or is not understood.
 */
export async function readSshdFiles(
	host: Host,
): Promise<SshdFiles | "denied" | "unclear"> {
	const settings = emptySettings();
	const main = await host.readFile("/etc/ssh/sshd_config");
	// Where distributions that keep /etc for the administrator have theirs.
	const path =
		main.kind === "missing"
			? "/usr/etc/ssh/sshd_config"
			: "/etc/ssh/sshd_config";
	const trouble = await readInto(host, path, settings, { isMatch: false }, 0);
	return trouble ?? settings;
}

/** OpenSSH's own defaults, for what the files leave out. */
const DEFAULTS: Record<string, string> = {
	authenticationmethods: "any",
	kbdinteractiveauthentication: "yes",
	passwordauthentication: "yes",
	permitrootlogin: "prohibit-password",
	port: "22",
	usepam: "no",
};

/** The settings in the form in which `sshd -T` prints them. */
export function asEffective({ values, addresses }: SshdFiles): string {
	const all = new Map(Object.entries(DEFAULTS));
	for (const [keyword, value] of values) {
		// Its name up to OpenSSH 8.6.
		const name =
			keyword === "challengeresponseauthentication"
				? "kbdinteractiveauthentication"
				: keyword;
		all.set(name, value.toLowerCase());
	}
	const lines = [...all].map(([keyword, value]) => `${keyword} ${value}`);
	const own = addresses.map((address) => `listenaddress ${address}`);
	return [...lines, ...own].join("\n");
}

/** Whether a Match block says yes to passwords, so that some may log in with one. */
export function acceptsForSome({ conditional }: SshdFiles): boolean {
	return conditional.some(
		([keyword, value]) =>
			/^(passwordauthentication|kbdinteractiveauthentication|challengeresponseauthentication|permitemptypasswords)$/.test(
				keyword,
			) && value.toLowerCase() === "yes",
	);
}

const emptySettings = (): SshdFiles => ({
	values: new Map(),
	addresses: [],
	conditional: [],
});

function take(
	settings: SshdFiles,
	keyword: string,
	value: string,
	isMatch: boolean,
): void {
	if (isMatch) settings.conditional.push([keyword, value]);
	else if (keyword === "listenaddress") settings.addresses.push(value);
	else if (!settings.values.has(keyword)) settings.values.set(keyword, value);
}

async function readInto(
	host: Host,
	path: string,
	settings: SshdFiles,
	state: { isMatch: boolean },
	depth: number,
): Promise<"denied" | "unclear" | undefined> {
	const file = await host.readFile(path);
	if (file.kind === "denied") return "denied";
	if (file.kind !== "text" || depth > 16) return "unclear";
	for (const line of file.text.split("\n")) {
		const [keyword, value] = splitLine(line);
		if (!keyword) continue;
		if (!/^[a-z0-9]{1,64}$/.test(keyword) || value === "") return "unclear";
		if (keyword === "match") {
			state.isMatch = value.toLowerCase() !== "all";
		} else if (keyword === "include") {
			// A Match block of an included file ends with it.
			const isMatch = state.isMatch;
			for (const pattern of value.split(/\s+/)) {
				const paths = await expand(host, pattern);
				if (typeof paths === "string") return paths;
				for (const included of paths) {
					const inner = { isMatch };
					const trouble = await readInto(
						host,
						included,
						settings,
						inner,
						depth + 1,
					);
					if (trouble) return trouble;
				}
			}
		} else {
			take(settings, keyword, value, state.isMatch);
		}
	}
	return undefined;
}

/** The files of an Include, in their order: a path, or one with * and ? in its last part. */
async function expand(
	host: Host,
	pattern: string,
): Promise<string[] | "denied" | "unclear"> {
	const path = pattern.startsWith("/") ? pattern : `/etc/ssh/${pattern}`;
	const at = path.lastIndexOf("/");
	const [folder, name] = [path.slice(0, at), path.slice(at + 1)];
	if (/[*?[\]{}]/.test(folder) || /[[\]{}]/.test(name)) return "unclear";
	const listed = await host.listFolder(folder);
	if (listed.kind === "missing") return [];
	if (listed.kind !== "names")
		return listed.kind === "denied" ? "denied" : "unclear";
	const glob = new RegExp(
		`^${name
			.replace(/[.+^$()|\\]/g, "\\$&")
			.replaceAll(/\*+/g, "[^/]*")
			.replaceAll("?", "[^/]")}$`,
	);
	return listed.names
		.filter(
			(one) => glob.test(one) && (!one.startsWith(".") || name.startsWith(".")),
		)
		.map((one) => `${folder}/${one}`);
}

/** `Keyword value`, `Keyword=value` and `Keyword "value"`; a comment has no keyword. */
function splitLine(line: string): [keyword: string, value: string] {
	const trimmed = line.trim();
	if (trimmed === "" || trimmed.startsWith("#")) return ["", ""];
	if (trimmed.length > MAX_LINE) return ["?", ""];
	const at = trimmed.search(/[\s=]/);
	if (at < 0) return [trimmed.toLowerCase(), ""];
	const value = trimmed
		.slice(at)
		.replace(/^\s*=?\s*/, "")
		.replace(/\s+#.*$/, "")
		.replaceAll('"', "")
		.trim();
	return [trimmed.slice(0, at).toLowerCase(), value];
}

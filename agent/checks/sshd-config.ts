import type { Host } from "../host.ts";

/** The longest line, in characters, that the agent parses. Nobody writes longer ones. */
const MAX_LINE = 4096;
const MAX_DEPTH = 16;
const MAX_BLOCKS = 64;

/** The keywords that decide who can sign in. All others are ignored. */
const KEPT = new Set([
	"authenticationmethods",
	"kbdinteractiveauthentication",
	"listenaddress",
	"passwordauthentication",
	"permitrootlogin",
	"port",
	"usepam",
]);

/**
 * The values by keyword in lower case. If a keyword is repeated, the first value counts, as in
 * sshd.
 */
type Values = Map<string, string>;

export interface SshdFiles {
	values: Values;
	/** All values of ListenAddress. This keyword may be repeated, and every value counts. */
	addresses: string[];
	/**
	 * The settings of each Match block, except blocks that only apply to connections from this
	 * machine.
	 */
	blocks: Values[];
}

/**
 * Reads sshd's settings from its files, by the rules of sshd_config(5). The first of the folders
 * that contains an sshd_config counts. Relative paths of included files start at the first folder.
 * Returns `denied` if a file may not be read, and `unclear` if a file is missing or not understood.
 */
export async function readSshdFiles(
	host: Host,
	folders: readonly string[],
): Promise<SshdFiles | "denied" | "unclear"> {
	const [home = ""] = folders;
	for (const folder of folders) {
		const path = `${folder}/sshd_config`;
		const file = await host.readFile(path);
		if (file.kind === "missing") continue;
		const files: SshdFiles = { values: new Map(), addresses: [], blocks: [] };
		return (await readInto({ host, home, files }, path)) ?? files;
	}
	return "unclear";
}

/** OpenSSH's own defaults, used for keywords that the files do not set. */
const DEFAULTS: Record<string, string> = {
	authenticationmethods: "any",
	kbdinteractiveauthentication: "yes",
	passwordauthentication: "yes",
	permitrootlogin: "prohibit-password",
	port: "22",
	usepam: "no",
};

/** Returns the settings in the form that `sshd -T` prints. */
export function asEffective({ values, addresses }: SshdFiles): string {
	const all = new Map([...Object.entries(DEFAULTS), ...values]);
	const lines = [...all].map(([keyword, value]) => `${keyword} ${value}`);
	const own = addresses.map((address) => `listenaddress ${address}`);
	return [...lines, ...own].join("\n");
}

interface Reading {
	host: Host;
	home: string;
	files: SshdFiles;
}

/**
 * Where a setting applies: in a Match block, nowhere (inside a block for loopback connections), or
 * everywhere.
 */
type Scope = Values | "nowhere" | "everywhere";

async function readInto(
	reading: Reading,
	path: string,
	outer: Scope = "everywhere",
	depth = 0,
): Promise<"denied" | "unclear" | undefined> {
	const { host, files } = reading;
	const file = await host.readFile(path);
	if (file.kind === "denied") return "denied";
	if (file.kind !== "text" || depth > MAX_DEPTH) return "unclear";
	// A Match block in an included file ends at the end of that file.
	let scope = outer;
	for (const line of file.text.split("\n")) {
		const [keyword, value] = splitLine(line);
		if (!keyword) continue;
		if (!/^[a-z0-9]{1,64}$/.test(keyword)) return "unclear";
		if (keyword === "match") {
			scope = enterBlock(value, outer, files);
			if (files.blocks.length > MAX_BLOCKS) return "unclear";
		} else if (keyword === "include") {
			for (const pattern of value.split(/\s+/)) {
				const paths = await expand(reading, pattern);
				if (typeof paths === "string") return paths;
				for (const included of paths) {
					const trouble = await readInto(reading, included, scope, depth + 1);
					if (trouble) return trouble;
				}
			}
		} else if (!take(files, scope, keyword, value)) {
			return "unclear";
		}
	}
	return undefined;
}

function enterBlock(condition: string, outer: Scope, files: SshdFiles): Scope {
	if (condition.toLowerCase() === "all") return outer;
	if (outer === "nowhere" || isLoopback(condition)) return "nowhere";
	const block: Values = new Map(outer === "everywhere" ? [] : outer);
	files.blocks.push(block);
	return block;
}

/**
 * Returns true for a condition such as `Address 127.0.0.1,::1`, because such connections come from
 * this machine.
 */
function isLoopback(condition: string): boolean {
	return /^(Local)?Address\s+((127(\.\d{1,3}){3}(\/\d+)?|::1(\/128)?)(,|$))+$/i.test(
		condition.trim(),
	);
}

/** Stores a setting. Returns false if a keyword that matters has no value. */
function take(
	files: SshdFiles,
	scope: Scope,
	name: string,
	value: string,
): boolean {
	// Up to OpenSSH 8.6, the keyword had this name.
	const keyword =
		name === "challengeresponseauthentication"
			? "kbdinteractiveauthentication"
			: name;
	if (!KEPT.has(keyword)) return true;
	if (value === "") return false;
	if (scope === "nowhere") return true;
	if (keyword === "listenaddress") {
		if (scope === "everywhere") files.addresses.push(value);
		return true;
	}
	const values = scope === "everywhere" ? files.values : scope;
	if (!values.has(keyword)) values.set(keyword, value.toLowerCase());
	return true;
}

/**
 * Returns the files that an Include names, in order. The last part of a path may contain * and ?.
 */
async function expand(
	{ host, home }: Reading,
	pattern: string,
): Promise<string[] | "denied" | "unclear"> {
	const given = pattern.replaceAll("\\", "/");
	// The path begins with __PROGRAMDATA__ (on Windows) or with a home folder.
	if (given === "" || /^(__|~)/.test(given)) return "unclear";
	const path = /^([A-Za-z]:)?\//.test(given) ? given : `${home}/${given}`;
	const at = path.lastIndexOf("/");
	const [folder, name] = [path.slice(0, at), path.slice(at + 1)];
	if (/[*?[\]{}]/.test(folder) || /[[\]{}]/.test(name)) return "unclear";
	const listed = await host.listFolder(folder);
	if (listed.kind === "missing") return [];
	if (listed.kind !== "names")
		return listed.kind === "denied" ? "denied" : "unclear";
	return listed.names
		.filter(
			(one) =>
				matchesWildcards(one, name) &&
				(!one.startsWith(".") || name.startsWith(".")),
		)
		.map((one) => `${folder}/${one}`);
}

/**
 * Returns true if the name matches the pattern, in which `*` stands for any text and `?` for any
 * character.
 */
function matchesWildcards(name: string, pattern: string): boolean {
	let [at, atPattern] = [0, 0];
	/** The position of the last `*`, and the end of the text for which it stands so far. */
	let star: { at: number; atPattern: number } | undefined;
	while (at < name.length) {
		const wanted = pattern[atPattern];
		if (wanted === "*") star = { at, atPattern: atPattern++ };
		else if (wanted === "?" || wanted === name[at]) {
			at++;
			atPattern++;
		} else if (star) {
			at = ++star.at;
			atPattern = star.atPattern + 1;
		} else return false;
	}
	return /^\**$/.test(pattern.slice(atPattern));
}

/**
 * Splits `Keyword value`, `Keyword=value` and `Keyword "value"`. For a comment, the keyword is
 * empty.
 */
function splitLine(line: string): [keyword: string, value: string] {
	const trimmed = line.trim();
	if (trimmed === "" || trimmed.startsWith("#")) return ["", ""];
	if (trimmed.length > MAX_LINE) return ["?", ""];
	const at = trimmed.search(/[\s=]/);
	if (at < 0) return [trimmed.toLowerCase(), ""];
	const value = trimmed
		.slice(at)
		.replace(/^\s*=?\s*/, "")
		.split(/\s#/, 1)
		.join("")
		.replaceAll('"', "")
		.trim();
	return [trimmed.slice(0, at).toLowerCase(), value];
}

import { stat } from "node:fs/promises";
import { AgentError } from "./agent-error.ts";
import { errorCode, readTextFile } from "./files.ts";
import type { Host } from "./host.ts";
import { readManagedSettings } from "./managed-settings.ts";
import { parseServerUrl } from "./server-url.ts";

/** The settings with which a package or a management system lets the agent enroll this device. */
export interface AgentConfig {
	serverUrl: string;
	/** File with the enrollment key or token. The agent deletes it after it has enrolled. */
	keyFile: string;
	ownerEmail?: string;
	caFile?: string;
}

/** The names in the file are also the names of the properties of the msi. */
export const CONFIG_NAMES = [
	"SERVER",
	"KEYFILE",
	"OWNEREMAIL",
	"CAFILE",
] as const;
type ConfigName = (typeof CONFIG_NAMES)[number];
/** The settings of one source, which need not be complete. */
type Settings = Map<ConfigName, string>;

const MAX_BYTES = 16_384;

/**
 * Returns the default path of the config file. Only root or an administrator may write to its
 * folder.
 */
export function defaultConfigFile(
	platform: NodeJS.Platform = process.platform,
	environment: NodeJS.ProcessEnv = process.env,
): string {
	if (platform === "win32") {
		return `${environment.ProgramFiles ?? "C:\\Program Files"}\\Assay Agent\\config`;
	}
	if (platform === "darwin") return "/Library/Assay Agent/config";
	return platform === "freebsd"
		? "/usr/local/etc/assay-agent/config"
		: "/etc/assay-agent/config";
}

/**
 * Reads the config file and, on a Mac, the settings of a management system. Those replace the ones
 * in the file, as on a Mac in general. Returns undefined if there is neither.
 */
export async function readConfig(
	file: string,
	host: Host,
): Promise<AgentConfig | undefined> {
	const own = await readConfigFile(file);
	const managed = await readManagedSettings(host, CONFIG_NAMES);
	if (managed.size === 0) return own && makeConfig(own, file);
	return makeConfig(
		new Map([...(own ?? []), ...managed]),
		"the profile for assay-agent",
	);
}

/** Returns undefined if there is no file. */
async function readConfigFile(file: string): Promise<Settings | undefined> {
	let text: string;
	try {
		await requireSafeFile(file);
		text = await readTextFile(file);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		if (error instanceof AgentError) throw error;
		throw new AgentError(
			`the config file ${file} cannot be read (${errorCode(error)}); check who may read it`,
			{ cause: error },
		);
	}
	return parseSettings(text, file);
}

/**
 * Rejects a config file that other users can change. They could make this device report to another
 * service, and the agent delete any file.
 */
async function requireSafeFile(file: string): Promise<void> {
	const { uid, mode, size } = await stat(file);
	if (size > MAX_BYTES) {
		throw new AgentError(
			`the config file ${file} is larger than ${MAX_BYTES} bytes`,
		);
	}
	if (process.platform === "win32") return;
	if (uid !== process.geteuid?.() || (mode & 0o022) !== 0) {
		throw new AgentError(
			`other users can change the config file ${file}; let only root write it (chown root, chmod go-w)`,
		);
	}
}

/** Parses lines of `NAME=value`. Empty lines and lines that begin with # mean nothing. */
function parseSettings(text: string, file: string): Settings {
	const settings: Settings = new Map();
	for (const [index, line] of text.split("\n").entries()) {
		const trimmed = line.trim();
		if (trimmed === "" || trimmed.startsWith("#")) continue;
		const [name, value] = splitLine(trimmed);
		const known = CONFIG_NAMES.find((each) => each === name);
		if (!known || value === undefined) {
			throw new AgentError(
				`line ${index + 1} of ${file} must be a comment or one of ${CONFIG_NAMES.join(", ")}, followed by = and a value`,
			);
		}
		settings.set(known, value);
	}
	return settings;
}

/** Checks the settings. `source` names for errors where a missing one belongs. */
function makeConfig(settings: Settings, source: string): AgentConfig {
	const required = (name: ConfigName): string => {
		const value = settings.get(name);
		if (!value) throw new AgentError(`${source} has no value for ${name}`);
		return value;
	};
	const ownerEmail = settings.get("OWNEREMAIL");
	const caFile = settings.get("CAFILE");
	return {
		serverUrl: parseServerUrl(required("SERVER")),
		keyFile: required("KEYFILE"),
		...(ownerEmail && { ownerEmail }),
		...(caFile && { caFile }),
	};
}

/** Parses the text of a config file. Throws an AgentError that says what is wrong or missing. */
export const parseConfig = (text: string, file: string): AgentConfig =>
	makeConfig(parseSettings(text, file), file);

function splitLine(line: string): [string, string | undefined] {
	const at = line.indexOf("=");
	if (at < 0) return [line, undefined];
	const value = line.slice(at + 1).trim();
	const isQuoted =
		value.length > 1 && value.startsWith('"') && value.endsWith('"');
	return [line.slice(0, at).trim(), isQuoted ? value.slice(1, -1) : value];
}

/** Returns the text of a config file. Throws if a value cannot be in it. */
export function writeConfig(config: AgentConfig): string {
	const values: Record<ConfigName, string | undefined> = {
		SERVER: config.serverUrl,
		KEYFILE: config.keyFile,
		OWNEREMAIL: config.ownerEmail,
		CAFILE: config.caFile,
	};
	return CONFIG_NAMES.filter((name) => values[name])
		.map((name) => {
			if (/\p{Cc}/u.test(values[name] ?? "")) {
				throw new AgentError(
					`${name} contains a line break or another control character; remove it`,
				);
			}
			return `${name}=${values[name]}\n`;
		})
		.join("");
}

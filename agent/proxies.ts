import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { explainFolder } from "./agent-error.ts";
import { errorCode, parseObject, writeFileAtomically } from "./files.ts";

const FILE = "proxies.json";

const NAMES = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"].flatMap((name) => [
	name,
	name.toLowerCase(),
]);

/** Returns true if the environment says itself which proxies to use. */
export const namesProxies = (environment: NodeJS.ProcessEnv): boolean =>
	NAMES.some((name) => environment[name]);

/** The files from which the proxies of an environment were read. */
const sources = new WeakMap<NodeJS.ProcessEnv, string>();

/**
 * Returns where somebody has to change the proxies of the environment: the name of the variable, or
 * the file in the agent's folder.
 */
export const sourceOfProxies = (environment: NodeJS.ProcessEnv): string =>
	sources.get(environment) ?? "HTTPS_PROXY";

/**
 * Stores the proxies of this environment in the agent's folder for the service. They are not part
 * of the service's definition, because it would show a proxy's password to every user of the
 * device.
 */
export async function storeProxies(
	folder: string,
	environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
	const kept = NAMES.flatMap((name) =>
		environment[name] ? [[name, environment[name]]] : [],
	);
	await writeFileAtomically(
		join(folder, FILE),
		`${JSON.stringify(Object.fromEntries(kept))}\n`,
	);
}

/** Adds the stored proxies to the environment, unless the environment names proxies itself. */
export async function useStoredProxies(
	folder: string,
	environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
	if (namesProxies(environment)) return;
	let text: string;
	try {
		text = await readFile(join(folder, FILE), "utf8");
	} catch (error) {
		const code = errorCode(error);
		if (code === "ENOENT" || code === "ENOTDIR") return;
		throw explainFolder(error, folder);
	}
	const stored = parseObject(text) ?? {};
	for (const name of NAMES) {
		if (typeof stored[name] === "string") environment[name] = stored[name];
	}
	sources.set(environment, `HTTPS_PROXY in ${join(folder, FILE)}`);
}

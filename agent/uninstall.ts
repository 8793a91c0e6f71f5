import { rm } from "node:fs/promises";
import { type ClientOptions, makeClient } from "./client.ts";
import { clearCredentials, readCredentials } from "./credentials.ts";
import { errorCode } from "./files.ts";
import { readMarker, removeFolder } from "./folder.ts";
import { removeLastResult } from "./last-result.ts";
import { findRunning } from "./lock.ts";
import { thisPlatform } from "./system-host.ts";

export interface Uninstalled {
	folder: string;
	was_enrolled: boolean;
	/** True if the service has revoked the key or says that the key is already invalid. */
	unenrolled: boolean;
	/** The steps that failed, each with what to do. */
	warnings: string[];
}

export interface UninstallOptions {
	/** The config file of the service. Undefined if none belongs to this folder. */
	configFile?: string | undefined;
	/** Removes the service. Undefined if no service was set up for this folder. */
	removeService?: (() => Promise<string[]>) | undefined;
	findProxy?: ClientOptions["findProxy"];
}

const UNENROLL_TIMEOUT_MS = 5000;

/**
 * Removes the agent's config file, service, key and folder. The key is removed even if earlier steps
 * fail. The agent tries once to tell the Assay service that this device is gone. It is safe to run
 * the command again.
 */
export async function uninstall(
	folder: string,
	{ configFile, removeService, findProxy }: UninstallOptions,
	signal: AbortSignal,
): Promise<Uninstalled> {
	const warnings: string[] = [];
	try {
		// Otherwise a package's service would enroll this device again when it starts. On macOS and
		// Windows, the file lies in the folder of the program, which is removed with the service.
		if (configFile) await rm(configFile, { force: true });
	} catch (error) {
		warnings.push(
			`${configFile} was not removed (${errorCode(error)}). Remove it by hand.`,
		);
	}
	try {
		warnings.push(...((await removeService?.()) ?? []));
	} catch (error) {
		warnings.push(
			`The service was not removed: ${(error as Error).message}. Remove it by hand.`,
		);
	}
	const credentials = await readCredentials(folder);
	let unenrolled = false;
	try {
		if (credentials) {
			const client = await makeClient({
				serverUrl: credentials.server_url,
				platform: thisPlatform() ?? "LINUX",
				extraCa: credentials.extra_ca,
				...(findProxy && { findProxy }),
			});
			const outcome = await client.send("unenroll", {
				key: credentials.api_key,
				signal,
				timeoutMs: UNENROLL_TIMEOUT_MS,
			});
			client.rest();
			// A key that is already invalid need not be revoked.
			unenrolled = outcome.kind === "ok" || outcome.kind === "unauthorized";
			if (outcome.kind === "trouble" || outcome.kind === "refused") {
				const reason =
					outcome.kind === "trouble" ? outcome.reason : outcome.message;
				warnings.push(
					`The Assay service was not told: ${reason}. Ask an administrator to revoke this device there.`,
				);
			}
		}
	} finally {
		await clearCredentials(folder);
	}
	const pid = await findRunning(folder);
	if (pid !== undefined) {
		warnings.push(
			`The agent still runs as process ${pid}. It ends on its own within a minute.`,
		);
	}
	await removeLastResult(folder);
	if (await readMarker(folder)) {
		for (const left of await removeFolder(folder)) {
			warnings.push(
				`${left} was not removed. Remove it by hand if it is not needed.`,
			);
		}
	}
	return {
		folder,
		was_enrolled: credentials !== undefined,
		unenrolled,
		warnings,
	};
}

import { rm } from "node:fs/promises";
import { AgentError } from "./agent-error.ts";
import { nextDelayMs } from "./backoff.ts";
import { readConfig } from "./config-file.ts";
import { noteEnrollmentTrouble } from "./enrollment-trouble.ts";
import { exists } from "./files.ts";
import type { Host } from "./host.ts";
import { install } from "./install.ts";
import type { Log } from "./log.ts";

export interface ConfigEnrollment {
	/**
	 * Enrolls this device if the config file says how and an attempt is due. Returns why the device
	 * is not enrolled, or undefined if it is.
	 */
	tryToEnroll(): Promise<string | undefined>;
	/** Deletes the file with the enrollment key, because this device is enrolled. */
	deleteKey(): Promise<void>;
}

/**
 * Lets the service enroll this device as a config file says. A package can therefore be installed
 * without a network, or into an image, and the device enrolls when it first reaches the service.
 * The file is read for each attempt, so an administrator can correct it. On a Mac, a management
 * system may also deliver the settings after the package.
 */
export function enrollFromConfig(
	file: string,
	parts: { folder: string; host: Host; log: Log; signal: AbortSignal },
): ConfigEnrollment {
	let failures = 0;
	/** By a clock that nobody sets, because a wrong date may be why an attempt failed. */
	let nextMs = 0;
	let reason = "";

	const attempt = async (): Promise<string | undefined> => {
		const config = await readConfig(file, parts.host);
		if (!config) {
			const profile =
				parts.host.platform === "DARWIN"
					? ", or until a profile for assay-agent sets SERVER and KEYFILE"
					: "";
			return `this device is not enrolled; the agent waits until you run the install command or write ${file}${profile}`;
		}
		if (!(await exists(config.keyFile))) {
			return `this device is not enrolled; the agent waits until you run the install command or put an enrollment key into ${config.keyFile}`;
		}
		try {
			const { warnings } = await install(
				{
					serverUrl: config.serverUrl,
					folder: parts.folder,
					tokenFile: config.keyFile,
					ownerEmail: config.ownerEmail,
					caFile: config.caFile,
					isUnattended: true,
				},
				parts,
			);
			for (const warning of warnings) parts.log.warn(warning);
			return undefined;
		} catch (error) {
			if (!(error instanceof AgentError)) throw error;
			failures++;
			nextMs =
				performance.now() +
				nextDelayMs({
					attempt: failures,
					retryAfterSeconds: error.retryAfterSeconds,
					random: Math.random(),
				});
			return error.message;
		}
	};

	return {
		async tryToEnroll() {
			if (performance.now() < nextMs) return reason;
			try {
				reason = (await attempt()) ?? "";
			} catch (error) {
				reason = (error as Error).message;
			}
			if (reason === "") return undefined;
			await noteEnrollmentTrouble(parts.folder, reason);
			return reason;
		},
		async deleteKey() {
			try {
				const config = await readConfig(file, parts.host);
				if (!config || !(await exists(config.keyFile))) return;
				await rm(config.keyFile);
				parts.log.info(`deleted the enrollment key in ${config.keyFile}`);
			} catch (error) {
				parts.log.error(
					`the enrollment key cannot be deleted: ${(error as Error).message}. Delete the file by hand`,
				);
			}
		},
	};
}

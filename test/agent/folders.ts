import { rm } from "node:fs/promises";
import { onTestFinished } from "vitest";
import { type Credentials, storeCredentials } from "../../agent/credentials.ts";
import { prepareFolder } from "../../agent/folder.ts";
import type { Host } from "../../agent/host.ts";
import { makeLog } from "../../agent/log.ts";
import { makeFolder } from "../support/folder.ts";
import { recordedHost } from "./recorded-host.ts";

/** Creates a folder for an agent, which is removed when the test ends. */
export async function makeAgentFolder(): Promise<string> {
	const folder = await makeFolder("assay-agent-");
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	await prepareFolder(folder);
	return folder;
}

/** Creates the folder of an agent that is already enrolled. */
export async function makeEnrolledFolder(
	serverUrl: string,
	key = "asy_dev_key",
): Promise<{ folder: string; credentials: Credentials }> {
	const folder = await makeAgentFolder();
	return {
		folder,
		credentials: await storeCredentials(folder, serverUrl, key),
	};
}

/**
 * Returns the host and the log that `run`, `once` and `install` need. By default the host is an
 * empty device. The test can read the log.
 */
export function makeParts(host: Host = recordedHost({ platform: "LINUX" })) {
	const lines: string[] = [];
	const stop = new AbortController();
	onTestFinished(() => stop.abort());
	return {
		host,
		log: makeLog("debug", (line) => lines.push(line)),
		signal: stop.signal,
		stop: () => stop.abort(),
		/** Returns everything that has been logged so far. */
		logged: () => lines.join(""),
	};
}

import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { isRunning } from "../support/child.ts";
import { runCommand } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
import { copyDataFolder } from "../support/made-data.ts";
import { type Started, startAssay } from "../support/program.ts";
import { heartbeatBody } from "../support/service.ts";

export interface DataFolder {
	/** The temporary folder of the test, which contains the data folder. */
	folder: string;
	/** The settings of the services. A test may add some before it starts one. */
	settings: Record<string, string>;
	/** Starts the service. When the service has ended, its last output may still be in the pipe. */
	start: (how?: { npm?: boolean; workers?: number }) => Promise<Started>;
	/** Creates an active device with commands while the service runs. Returns the device key. */
	addDevice: (url: string) => Promise<string>;
	/** Returns the process id of the embedded server's main process. */
	serverPid: () => number;
}

/**
 * Makes a data folder for the services of one test. The services end with the test. The folder is
 * filled, unless the test is about its creation.
 */
export async function makeDataFolder({
	isEmpty = false,
} = {}): Promise<DataFolder> {
	const folder = await makeFolder("assay-start-");
	const data = join(folder, "data");
	const settings: Record<string, string> = { ASSAY_DATA_DIR: data };
	const running: Started[] = [];
	onTestFinished(async () => {
		for (const one of running) {
			if (isRunning(one.pid)) await one.stop("SIGTERM");
		}
		await rm(folder, { recursive: true, force: true });
	});
	if (!isEmpty) await copyDataFolder(data);
	return {
		folder,
		settings,
		start: async (how = {}) => {
			const started = await startAssay(settings, how);
			running.push(started);
			return started;
		},
		addDevice: async (url) => {
			const org = await runCommand(
				["org", "create", "--name", "Acme", "--json"],
				settings,
			);
			const { organization_id } = JSON.parse(org.stdout);
			const device = await runCommand(
				["device", "create", "--org", organization_id, "--json"],
				settings,
			);
			const { enrollment_token: token } = JSON.parse(device.stdout);
			const enrolled = await post(url, "enroll", { token });
			const { api_key: key } = (await enrolled.json()) as { api_key: string };
			const beat = await post(url, "heartbeat", heartbeatBody(), key);
			expect(beat.status).toBe(200);
			return key;
		},
		serverPid: () => {
			const file = join(data, "postgres/postmaster.pid");
			return Number(readFileSync(file, "utf8").split("\n")[0]);
		},
	};
}

export function post(url: string, route: string, body: unknown, key?: string) {
	return fetch(`${url}/api/agent/v1/${route}`, {
		method: "POST",
		body: JSON.stringify(body),
		headers: key ? { authorization: `Bearer ${key}` } : {},
	});
}

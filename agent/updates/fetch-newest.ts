import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { RELEASE } from "../../src/agent-packages/release.ts";
import { VERSION } from "../../src/version.ts";
import { AgentError } from "../agent-error.ts";
import { readCredentials } from "../credentials.ts";
import { parseObject } from "../files.ts";
import type { Host } from "../host.ts";
import { FETCH_UPDATE, type OwnProgram } from "../own-program.ts";
import { clientFor } from "../session.ts";
import { failuresIn, readNotes, readPinnedKey } from "./update-notes.ts";

export interface Wanted {
	/** The version that the service names. */
	newest: string;
	/** File for the program. */
	to: string;
	signal: AbortSignal;
}

/** Milliseconds between SIGTERM and SIGKILL, in which the process deletes its files. */
const GRACE_MS = 2000;

/** File for the archive, in the agent's folder. */
const ARCHIVE = "update.tar.gz";

/**
 * Fetches a program in a separate process, which runs a hidden command of this program. The archive
 * takes 80 MB of memory, which the agent would otherwise keep for as long as it runs. Returns its
 * version. Throws an AgentError that says what went wrong, and leaves no file then, even if the
 * process was killed.
 */
export async function fetchInChild(
	own: OwnProgram,
	/** The agent's folder. */
	folder: string,
	wanted: Wanted,
): Promise<string> {
	try {
		return await runChild(own, folder, wanted);
	} catch (error) {
		await rm(wanted.to, { force: true });
		await rm(join(folder, ARCHIVE), { force: true });
		throw error;
	}
}

function runChild(
	own: OwnProgram,
	folder: string,
	{ newest, to, signal }: Wanted,
): Promise<string> {
	return new Promise((resolve, reject) => {
		const child = spawn(
			own.program,
			[...own.args, FETCH_UPDATE, newest, to, "--dir", folder, "--json"],
			{ stdio: ["ignore", "pipe", "ignore"], windowsHide: true },
		);
		let text = "";
		const stop = () => {
			child.kill("SIGTERM");
			setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
		};
		const settle = (isFetched: boolean) => {
			signal.removeEventListener("abort", stop);
			const { version, error } = parseObject(text) ?? {};
			if (isFetched && typeof version === "string" && RELEASE.test(version)) {
				return resolve(version);
			}
			const known = typeof error === "string" ? error : undefined;
			reject(new AgentError(known ?? "the program could not be fetched"));
		};
		signal.addEventListener("abort", stop);
		child.stdout.setEncoding("utf8").on("data", (more: string) => {
			text += more;
		});
		child.on("error", () => settle(false));
		child.on("close", (code) => settle(code === 0));
		if (signal.aborted) stop();
	});
}

/**
 * Fetches a program in this process, and returns its version. Throws an AgentError that says what
 * went wrong.
 */
export async function fetchNewest(
	/** The agent's folder. */
	folder: string,
	{ newest, to, signal }: Wanted,
	host: Host,
): Promise<string> {
	const credentials = await readCredentials(folder);
	const key = await readPinnedKey(folder);
	if (!credentials || key === undefined) {
		throw new AgentError("this agent does not update itself");
	}
	const { fetchUpdate } = await import("./fetch-update.ts");
	const client = await clientFor(credentials, host);
	try {
		return await fetchUpdate({
			client,
			key,
			own: VERSION,
			newest,
			failures: failuresIn(await readNotes(folder)),
			platform: `${process.platform}-${process.arch}`,
			archive: join(folder, ARCHIVE),
			to,
			signal,
		});
	} catch (error) {
		if (error instanceof AgentError) throw error;
		const { code = "unknown error" } = error as NodeJS.ErrnoException;
		throw new AgentError(`the program could not be fetched (${code})`);
	} finally {
		client.rest();
	}
}

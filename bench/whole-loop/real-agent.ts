import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const PROGRAM = join(import.meta.dirname, "../../bin/assay.js");
const PAM_FILE = "/etc/pam.d/common-password";

/** Mounts the file $1 at $2, which only the program after it sees. */
const WITH_FILE = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';

/** This machine's real agent. Its password policy can be switched off and on. */
export interface RealAgent {
	/**
	 * Runs the checks and reports. The agent sees a PAM configuration that demands `minLength`
	 * characters. Nothing else on the machine sees it.
	 */
	report: (minLength: number) => Promise<void>;
}

/** Enrolls the agent, which keeps its key and its queue in `folder`. Needs Linux and root. */
export async function enrollAgent(
	url: string,
	token: string,
	folder: string,
): Promise<RealAgent> {
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	const dir = ["--dir", join(folder, "agent")];
	const pam = join(folder, "common-password");
	const agent = (args: string[], env: NodeJS.ProcessEnv = {}) =>
		promisify(execFile)(
			"unshare",
			[
				...["--mount", "sh", "-c", WITH_FILE, "sh", pam, PAM_FILE],
				...[process.execPath, PROGRAM, "agent", ...args, ...dir],
			],
			{ env: { ...withoutSettings(), ...env }, timeout: 120_000 },
		);
	const demand = (minLength: number) =>
		writeFileSync(
			pam,
			`password requisite pam_unix.so obscure yescrypt minlen=${minLength}\n`,
		);
	demand(12);
	await agent(["install", "--server", url, "--no-service"], {
		ASSAY_ENROLLMENT_TOKEN: token,
	});
	return {
		report: async (minLength) => {
			demand(minLength);
			await agent(["once", "--force"]);
		},
	};
}

/** Returns the environment without settings of a service and without proxies. */
function withoutSettings(): NodeJS.ProcessEnv {
	return Object.fromEntries(
		Object.entries(process.env).filter(
			([name]) => !name.startsWith("ASSAY_") && !/_proxy$/i.test(name),
		),
	);
}

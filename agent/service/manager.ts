import { AgentError } from "../agent-error.ts";
import type { CommandResult, Host } from "../host.ts";

/**
 * The program that the service starts, with its arguments, for the agent whose folder is `folder`.
 */
export interface ServiceSpec {
	program: string;
	args: string[];
	folder: string;
	environment: Record<string, string>;
}

export type ServiceState = "running" | "stopped" | "not_installed" | "unknown";

export interface ServiceManager {
	/** The name of the service manager as people know it. */
	name: string;
	/**
	 * Sets up the service, also if it exists already, and starts it. Returns further notes for the
	 * user.
	 */
	install(spec: ServiceSpec): Promise<string[]>;
	/**
	 * Stops the service and removes everything that `install` made. It can be called again after it
	 * has succeeded or failed. Returns notes on parts that were missing.
	 */
	uninstall(): Promise<string[]>;
	state(): Promise<ServiceState>;
}

export const SERVICE_NAME = "assay-agent";

/** The limit is long, because stopping the service waits for a running check. */
const TIMEOUT_MS = 60_000;

/**
 * Runs a command of the service manager. If it fails, throws an AgentError that names the command.
 */
export async function runOrThrow(
	host: Host,
	program: string,
	args: string[],
): Promise<CommandResult> {
	const result = await tryRun(host, program, args);
	if (succeeded(result)) return result;
	const how =
		result.ended === "exited"
			? `ended with ${result.exitCode}`
			: {
					missing: "is not installed",
					denied: "may not be executed",
					timed_out: "did not end in time",
				}[result.ended];
	const said = firstLine(result.stderr) || firstLine(result.stdout);
	throw new AgentError(
		`${[program, ...args].join(" ")} ${how}${said ? `: ${said}` : ""}`,
	);
}

export const tryRun = (host: Host, program: string, args: string[]) =>
	host.run(program, args, { timeoutMs: TIMEOUT_MS });

export const succeeded = (result: CommandResult) =>
	result.ended === "exited" && result.exitCode === 0;

const firstLine = (text: string) => text.trim().split("\n", 1)[0]?.trim() ?? "";

/**
 * Rejects text that no unit, script or XML file can hold. For example, a line break would start a
 * new directive in a unit.
 */
export function checkSpec(spec: ServiceSpec): void {
	const texts = [
		spec.program,
		spec.folder,
		...spec.args,
		...Object.entries(spec.environment).flat(),
	];
	for (const text of texts) {
		if (/\p{Cc}/u.test(text) || !text.isWellFormed()) {
			throw new AgentError(
				"a path or an environment variable of the service contains a line break or another control character; remove it",
			);
		}
	}
	for (const name of Object.keys(spec.environment)) {
		if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
			throw new AgentError(
				`"${name}" is not a valid name for an environment variable; use letters, digits and _, and begin with a letter or _`,
			);
		}
	}
}

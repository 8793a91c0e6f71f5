/** Exit codes of commands that fail. docs/agent.md documents them for use in scripts. */
export const EXIT = {
	failed: 1,
	wrongUsage: 2,
	/**
	 * The device is not enrolled. Service managers use the same code for a service that is not
	 * running.
	 */
	notEnrolled: 3,
} as const;

/**
 * An error that the user can fix. Its message says what was wrong and what to do. Every other error
 * is a bug in the agent.
 */
export class AgentError extends Error {
	readonly exitCode: (typeof EXIT)[keyof typeof EXIT];
	/** Seconds for which the service asked the agent to wait, if it did. */
	readonly retryAfterSeconds: number | undefined;

	constructor(
		message: string,
		options: ErrorOptions & {
			exitCode?: AgentError["exitCode"];
			retryAfterSeconds?: number | undefined;
		} = {},
	) {
		super(message, options);
		this.name = "AgentError";
		this.exitCode = options.exitCode ?? EXIT.failed;
		this.retryAfterSeconds = options.retryAfterSeconds;
	}
}

/**
 * Turns a known error from reading or writing the agent's folder into an AgentError that explains
 * it. Returns any other error unchanged.
 */
export function explainFolder(error: unknown, folder: string): unknown {
	const code = (error as NodeJS.ErrnoException | undefined)?.code;
	if (code === "EACCES" || code === "EPERM") {
		return new AgentError(
			`you may not use ${folder}; run the command as root or an administrator, or choose a folder of your own with --dir`,
			{ cause: error },
		);
	}
	if (code === "ENOSPC" || code === "EDQUOT") {
		return new AgentError(
			`the disk that holds ${folder} is full; free some space`,
			{
				cause: error,
			},
		);
	}
	if (code === "EROFS") {
		return new AgentError(
			`${folder} is on a read-only disk; make the disk writable, or choose another folder with --dir`,
			{
				cause: error,
			},
		);
	}
	return error;
}

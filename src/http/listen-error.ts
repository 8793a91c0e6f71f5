import { AppError } from "../errors.ts";

/**
 * Turns an error of listening at `where` (host:port) into a message for the operator, if the
 * operator can fix it. `hostSetting` and `portSetting` name the settings of the host and the port.
 */
export function explainListen(
	error: unknown,
	where: string,
	hostSetting: string,
	portSetting: string,
): unknown {
	const { code } = error as { code?: string };
	if (code === "EADDRINUSE") {
		return new AppError(
			"bad_request",
			`another program already listens on ${where}; stop that program, or set ${portSetting} to a free port`,
		);
	}
	if (code === "EADDRNOTAVAIL" || code === "EACCES") {
		return new AppError(
			"bad_request",
			`the service cannot listen on ${where} (${code}); set ${hostSetting} and ${portSetting} to an address of this machine that this user may use`,
		);
	}
	return error;
}

import { AppError } from "../errors.ts";

/** Why a server could not listen at `where` (host:port, set by `variables`), as far as it can be helped. */
export function explainListen(
	error: unknown,
	where: string,
	variables: string,
): unknown {
	const { code } = error as { code?: string };
	if (code === "EADDRINUSE") {
		return new AppError(
			"bad_request",
			`something already listens on ${where}; stop it, or set ${variables} to a free port`,
		);
	}
	if (code === "EADDRNOTAVAIL" || code === "EACCES") {
		return new AppError(
			"bad_request",
			`cannot listen on ${where} (${code}); set ASSAY_HOST and ${variables} to an address of this machine that this user may use`,
		);
	}
	return error;
}

const NAME = "NODE_EXTRA_CA_CERTS";

type Variables = Record<string, string | undefined>;

/** The command `assay` of a package passes the difference to `doctor`, which lists it. */
export const FOUND_AUTHORITIES = "OTHER_AUTHORITIES_OF_SHELL";
export const AUTHORITIES_ADVICE = `to check what the service trusts, first run: unset ${NAME}`;

/**
 * Says so if a command would trust other certificate authorities than the service, because
 * the shell sets them. Such a variable is often set for a whole machine, and not for one command.
 * `doctor` would then judge certificates that the service judges otherwise.
 */
export function compareAuthorities(
	ofShell: Variables,
	ofService: Variables,
	settingsFile: string,
): string | undefined {
	const own = ofShell[NAME];
	const others = ofService[NAME];
	if (own === undefined || own === (others ?? "")) return undefined;
	const service = others ? `has ${others}` : "does not set it";
	return `${NAME} of this shell (${own}) takes precedence, but the service does not use it: ${settingsFile} ${service}`;
}

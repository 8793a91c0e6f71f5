const NAME = "NODE_EXTRA_CA_CERTS";

type Variables = Record<string, string | undefined>;

/** The command `assay` of a package passes what it finds to `doctor`, which lists it. */
export const FOUND_AUTHORITIES = "FOUND_AUTHORITIES";

/** A problem with the file of certificate authorities, and advice. */
export interface AuthoritiesFinding {
	found: string;
	advice: string;
}

/** Folders that the systemd units of the package hide from the service. */
const HIDDEN_FOLDERS = /^\/(tmp|var\/tmp|home|root|run\/user)\//;

/**
 * Says so if the service cannot see the file of certificate authorities that its settings name. A
 * command can see it, and would find every certificate in order.
 */
export function findHiddenAuthorities(
	ofService: Variables,
): AuthoritiesFinding | undefined {
	const file = ofService[NAME];
	if (!file || !HIDDEN_FOLDERS.test(file)) return undefined;
	return {
		found: `${NAME} names ${file}, which the service cannot see, because its unit hides that folder`,
		advice: `copy the file to /etc/assay, name it there, and restart the service: systemctl restart assay`,
	};
}

/**
 * Says so if a command would trust other certificate authorities than the service, because
 * the shell sets them. Such a variable is often set for a whole machine, and not for one command.
 * `doctor` would then judge certificates that the service judges otherwise.
 */
export function compareAuthorities(
	ofShell: Variables,
	ofService: Variables,
	settingsFile: string,
): AuthoritiesFinding | undefined {
	const own = ofShell[NAME];
	const others = ofService[NAME];
	if (own === undefined || own === (others ?? "")) return undefined;
	const service = others ? `has ${others}` : "does not set it";
	return {
		found: `${NAME} of this shell (${own}) takes precedence, but the service does not use it: ${settingsFile} ${service}`,
		advice: `to check what the service trusts, first run: unset ${NAME}`,
	};
}

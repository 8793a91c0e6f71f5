import { ID_LENGTH, ID_PATTERN } from "../id.ts";

/**
 * Makes statements that say for which organization and user a transaction acts. Row-level security
 * reads these settings.
 *
 * They use `set local` and not `set_config`. It takes two thirds of the time, because it is not
 * planned, and a cluster such as Citus can pass it on to its nodes. It cannot have parameters, so
 * the value is part of the text, and only an id is accepted.
 */

/** Makes the statement that names the organization, or no organization if `id` is empty. */
export function setOrganization(id: string | null | undefined): string {
	return `set local assay.organization_id = '${idOrEmpty(id)}'`;
}

/** Makes the statement that names the user, or no user if `id` is empty. */
export function setUser(id: string | null | undefined): string {
	return `set local assay.user_id = '${idOrEmpty(id)}'`;
}

/** Makes the statement that lets the triggers know which organization is imported. */
export function setImporting(id: string): string {
	return `set local assay.importing = '${idOrEmpty(id)}'`;
}

function idOrEmpty(id: string | null | undefined): string {
	if (!id) return "";
	if (ID_PATTERN.test(id)) return id;
	throw new Error(
		`the organization and the user of a transaction must be ids of ${ID_LENGTH} characters`,
	);
}

import { userInfo } from "node:os";

/**
 * Says who wanted to read or write a file. People are surprised that the command of a package works
 * as the user of the service.
 */
export function describeUser(): string {
	return `this command works as the user ${nameUser()}`;
}

function nameUser(): string {
	try {
		return userInfo().username;
	} catch {
		// A container may have no name for its user.
		return `with the id ${process.getuid?.()}`;
	}
}

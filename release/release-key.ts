import { runTool } from "../agent/packages/run-tool.ts";

/** Returns the fingerprint of a key of gpg, 40 hexadecimal digits. */
export function fingerprintOf(key: string): string {
	const listed = runTool("gpg", [
		...["--batch", "--with-colons", "--list-keys", key],
	]);
	const line = listed.split("\n").find((each) => each.startsWith("fpr:"));
	return line?.split(":")[9] ?? "";
}

/**
 * Throws unless SECURITY.md shows the fingerprint. Somebody who can replace the files of a release
 * can also replace the key beside them, so operators compare it with what the repository says.
 */
export function checkPublished(fingerprint: string, security: string): void {
	if (fingerprint && security.replaceAll(/\s/g, "").includes(fingerprint)) {
		return;
	}
	throw new Error(
		`SECURITY.md does not show the fingerprint of the key that signs (${fingerprint}); write it into the section Release key`,
	);
}

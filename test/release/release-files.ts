import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { LinuxArchitecture } from "../../agent/packages/deb-and-rpm.ts";

export const ARCHITECTURE = process.arch as LinuxArchitecture;
const ROOT = join(import.meta.dirname, "../..");
const SIGNER = "release@example.com";

/** Makes the files of a version in the folder `work`, signed by a key that is made there. */
export function makeFiles(version: string, work: string): string {
	const out = join(work, version);
	const home = join(work, "gnupg");
	const env = { ...process.env, GNUPGHOME: home };
	if (!existsSync(home)) {
		mkdirSync(home, { mode: 0o700 });
		const key = ["--passphrase", "", "--quick-gen-key", SIGNER];
		const batch = ["--batch", "--quiet", ...key, "rsa3072", "sign"];
		execFileSync("gpg", batch, { env });
	}
	execFileSync(
		process.execPath,
		[
			join(ROOT, "release/release.ts"),
			...["--preview", version, "--only", ARCHITECTURE],
			...["--level", "3", "--out", out, "--sign-with", SIGNER],
		],
		{ env, stdio: "inherit" },
	);
	const sums = join(out, "SHA256SUMS");
	execFileSync("gpg", ["--verify", `${sums}.asc`, sums], { env });
	return out;
}

/** Returns the path of the only file whose name ends like this. */
export function only(folder: string, end: string): string {
	const found = readdirSync(folder).filter((name) => name.endsWith(end));
	if (found.length !== 1) throw new Error(`${folder}: ${found.length} ${end}`);
	return join(folder, found[0] as string);
}

/** Returns the version of the files in the folder. */
export function versionIn(folder: string): string {
	return only(folder, "-image.tar.gz").split("-").at(-2) as string;
}

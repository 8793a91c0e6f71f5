import { createHash } from "node:crypto";
import {
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
	describeName,
	isPackageName,
	LIST_NAME,
	type PackageList,
} from "../../src/agent-packages/package-list.ts";
import { runTool } from "./run-tool.ts";

/** Signs files with a key of gpg. The key may be on a smart card. */
export interface Signer {
	sign(args: string[], file: string, signature: string): void;
	signRpm(file: string): void;
	publicKey(): string;
}

export function gpgSigner(key: string): Signer {
	const as = ["--batch", "--yes", "--local-user", key];
	return {
		sign(args, file, signature) {
			runTool("gpg", [...as, ...args, "--output", signature, file]);
		},
		signRpm(file) {
			const defines = [`_gpg_name ${key}`, "__gpg /usr/bin/gpg"];
			runTool("rpmsign", [
				...defines.flatMap((each) => ["--define", each]),
				"--addsign",
				file,
			]);
		},
		publicKey: () => runTool("gpg", ["--armor", "--export", key]),
	};
}

/** The public key of the signatures, as users of the repositories install it. */
const KEY_NAME = "assay-agent.asc";
const DETACHED = ["--armor", "--detach-sign"];

/**
 * Makes the folder an apt and a yum repository of all packages in it, also of earlier versions, and
 * lists `files`, the newest packages. SHA256SUMS has the checksums of all, because the service offers
 * no package without one. The metadata is signed, so that nobody who can change the folder can give
 * devices another program.
 */
export function indexFolder(
	folder: string,
	version: string,
	files: string[],
	signer: Signer | undefined,
): void {
	const at = (name: string) => join(folder, name);
	const packages = runTool("apt-ftparchive", ["packages", "."], folder);
	writeFileSync(at("Packages"), packages);
	writeFileSync(at("Packages.gz"), gzipSync(packages));
	// A Release or InRelease of an earlier build would be in the list of the new one.
	for (const name of ["Release", "InRelease", "Release.gpg", KEY_NAME]) {
		rmSync(at(name), { force: true });
	}
	writeFileSync(at("Release"), makeRelease(folder));
	runTool("createrepo_c", ["--quiet", "--no-database", folder]);
	writeFileSync(
		at("SHA256SUMS"),
		checksums(folder, withEarlier(folder, files)),
	);
	const list: PackageList = {
		version,
		is_signed: signer !== undefined,
		packages: files.map((file) => ({
			file,
			...describeName(file),
			bytes: statSync(at(file)).size,
			sha256: sha256(at(file)),
		})),
	};
	writeFileSync(at(LIST_NAME), `${JSON.stringify(list, null, "\t")}\n`);
	if (!signer) return;
	signChecksums(folder, KEY_NAME, signer);
	signer.sign(["--clear-sign"], at("Release"), at("InRelease"));
	signer.sign(DETACHED, at("Release"), at("Release.gpg"));
	const repomd = at("repodata/repomd.xml");
	signer.sign(DETACHED, repomd, `${repomd}.asc`);
}

/** Returns `files` and the other packages of the agent in the folder, of any version. */
export const withEarlier = (folder: string, files: readonly string[]) => [
	...new Set([...files, ...readdirSync(folder).filter(isPackageName)]),
];

/** Signs SHA256SUMS, and puts the public key that proves the signature beside it. */
export function signChecksums(
	folder: string,
	keyName: string,
	signer: Signer,
): void {
	writeFileSync(join(folder, keyName), signer.publicKey());
	const sums = join(folder, "SHA256SUMS");
	signer.sign(DETACHED, sums, `${sums}.asc`);
}

/** Returns the other packages of this version that lie in the folder, such as a signed msi. */
export function packagesOf(
	out: string,
	release: string,
	made: readonly string[],
): string[] {
	// deb and rpm write the parts of a name with other signs between them.
	const beginnings = ["-", "_"].flatMap((first) =>
		["-", "_"].map((second) => `assay-agent${first}${release}${second}`),
	);
	return readdirSync(out).filter(
		(name) =>
			beginnings.some((beginning) => name.startsWith(beginning)) &&
			/\.(?:deb|rpm|msi|pkg|tar\.gz)$/.test(name) &&
			!made.includes(name),
	);
}

function makeRelease(folder: string): string {
	const fields = {
		Origin: "Assay",
		Label: "Assay agent",
		Suite: "stable",
		Architectures: "amd64 arm64",
	};
	const options = Object.entries(fields).flatMap(([name, value]) => [
		"-o",
		`APT::FTPArchive::Release::${name}=${value}`,
	]);
	// Only the index of packages belongs to the list. The default would hash every file.
	const patterns = ["-o", "APT::FTPArchive::Release::Patterns::=Packages*"];
	return runTool(
		"apt-ftparchive",
		[...options, ...patterns, "release", "."],
		folder,
	);
}

/** Returns checksums in the format of `sha256sum --check`. */
export function checksums(folder: string, files: string[]): string {
	return files
		.toSorted()
		.map((file) => `${sha256(join(folder, file))}  ${file}\n`)
		.join("");
}

const sha256 = (path: string) =>
	createHash("sha256").update(readFileSync(path)).digest("hex");

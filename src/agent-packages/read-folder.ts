import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Checksums, readSums, SUMS_NAME } from "./checksums.ts";
import {
	FILE_NAME,
	isInFormat,
	isPackageName,
	LIST_NAME,
	type PackageList,
	type PackageRelease,
	packageList,
	releaseOf,
} from "./package-list.ts";
import { type FileState, openRegularFile, stateOf } from "./regular-file.ts";
import { isLater, type Releases } from "./release.ts";

/** Largest number of files that the folder may offer. */
const MAX_FILES = 500;
/** Folder of the metadata of the yum repository. */
const YUM_FOLDER = "repodata";
/** Files beside the packages: the lists, their signatures, the public key and the apt repository. */
const OTHER_FILES: ReadonlySet<string> = new Set([
	LIST_NAME,
	SUMS_NAME,
	`${SUMS_NAME}.asc`,
	"agent-update.json",
	"assay-agent.asc",
	"InRelease",
	"Packages",
	"Packages.gz",
	"Release",
	"Release.gpg",
]);
/** A file of the yum repository, such as `3f0c-primary.xml.gz`. */
const YUM_FILE = /\.(?:xml|sqlite)(?:\.[a-z0-9]{2,4})?$/;
/** Largest size of packages.json and of SHA256SUMS. */
const MAX_TEXT_BYTES = 1024 * 1024;

export interface OfferedFile extends FileState {
	path: string;
}

/** A file of the folder that nobody can download. */
export interface WithheldFile {
	file: string;
	/** The rest of a sentence that begins with the file. */
	reason: string;
}

export interface FolderContent {
	/** The newest packages, without those that are withheld. */
	list: PackageList;
	/** The files by their path in the folder, such as `repodata/repomd.xml`. */
	files: ReadonlyMap<string, OfferedFile>;
	/** The newest version that the folder offers for each platform, and all its architectures. */
	newest: Releases;
	withheld: WithheldFile[];
}

/**
 * Reads a folder of packages, and compares each file that packages.json or SHA256SUMS names with its
 * checksum. Links, files with another checksum, and packages without one are withheld. A file that
 * `build:packages` does not make, for example a private key, is neither offered nor named. Throws if
 * the folder has no valid packages.json.
 */
export async function readFolder(
	folder: string,
	checksums: Checksums,
	signal?: AbortSignal,
): Promise<FolderContent> {
	const list = readList(await readText(join(folder, LIST_NAME)));
	const found = await findFiles(folder);
	const sums = [
		{
			from: LIST_NAME,
			byFile: new Map(list.packages.map(({ file, sha256 }) => [file, sha256])),
		},
		...(found.files.has(SUMS_NAME)
			? [
					{
						from: SUMS_NAME,
						byFile: readSums(await readText(join(folder, SUMS_NAME))),
					},
				]
			: []),
	];
	const named = new Set(sums.flatMap(({ byFile }) => [...byFile.keys()]));
	const { files, withheld } = keepOurs(found, named);
	const compared = new Set<string>();
	for (const name of named) {
		if (!isOurs(name, named)) continue;
		const naming = sums.filter(({ byFile }) => byFile.has(name));
		const file = files.get(name);
		if (!file) {
			if (withheld.some((one) => one.file === name)) continue;
			const reason = `is named in ${namesOf(naming)}, but is not in the folder`;
			withheld.push({ file: name, reason });
			continue;
		}
		compared.add(file.path);
		const reason = await checksums.of(file.path, file, signal).then(
			(sha256) => {
				const wrong = naming.filter(
					({ byFile }) => byFile.get(name) !== sha256,
				);
				return wrong.length === 0
					? undefined
					: `does not have the SHA-256 that ${namesOf(wrong)} names`;
			},
			(error: Error) => {
				signal?.throwIfAborted();
				return `cannot be read: ${error.message}`;
			},
		);
		if (reason === undefined) continue;
		files.delete(name);
		withheld.push({ file: name, reason });
	}
	checksums.keepOnly(compared);
	const packages = list.packages.flatMap((one) => {
		const file = files.get(one.file);
		return file ? [{ ...one, bytes: file.bytes }] : [];
	});
	return {
		list: { ...list, packages },
		files,
		newest: newestOf({ ...list, packages }, [...files.keys()]),
		withheld,
	};
}

/** Returns true for the files of a folder of packages. `named` has the names with a checksum. */
function isOurs(file: string, named: ReadonlySet<string>): boolean {
	const [first = "", inside] = file.split("/");
	if (inside !== undefined) return YUM_FILE.test(inside);
	return (
		first === YUM_FOLDER ||
		OTHER_FILES.has(first) ||
		isPackageName(first) ||
		(isInFormat(first) && named.has(first))
	);
}

/** Removes the files that are not ours, and withholds packages without a checksum. */
function keepOurs(
	found: Awaited<ReturnType<typeof findFiles>>,
	named: ReadonlySet<string>,
) {
	const files = new Map<string, OfferedFile>();
	const withheld = found.withheld.filter(({ file }) => isOurs(file, named));
	for (const [file, state] of found.files) {
		if (!isOurs(file, named)) continue;
		if (isInFormat(file) && !file.includes("/") && !named.has(file)) {
			const reason = `has no checksum in ${LIST_NAME} or ${SUMS_NAME}`;
			withheld.push({ file, reason });
		} else if (files.size < MAX_FILES) {
			files.set(file, state);
		} else {
			const reason = `is left out, because the folder has more than ${MAX_FILES} files`;
			withheld.push({ file, reason });
		}
	}
	return { files, withheld };
}

function readList(text: string): PackageList {
	try {
		return packageList.parse(JSON.parse(text));
	} catch {
		throw new Error(
			`${LIST_NAME} is not a list of packages as build:packages writes it`,
		);
	}
}

const namesOf = (sums: readonly { from: string }[]) =>
	sums.map(({ from }) => from).join(" and ");

/** Finds the regular files and the links of the folder and of the yum repository. */
async function findFiles(folder: string) {
	const files = new Map<string, OfferedFile>();
	const withheld: WithheldFile[] = [];
	const isLink = { reason: "is a link, and only files are offered" };
	for (const inside of ["", YUM_FOLDER]) {
		const within = join(folder, inside);
		if (inside !== "") {
			const about = await lstat(within).catch(() => undefined);
			if (about?.isSymbolicLink()) withheld.push({ file: inside, ...isLink });
			if (!about?.isDirectory()) continue;
		}
		for (const name of await namesIn(within)) {
			if (!FILE_NAME.test(name)) continue;
			const path = join(within, name);
			const file = inside === "" ? name : `${inside}/${name}`;
			// A file may be removed while the folder is read.
			const about = await lstat(path).catch(() => undefined);
			if (about?.isSymbolicLink() && file !== YUM_FOLDER) {
				withheld.push({ file, ...isLink });
			}
			if (about?.isFile()) files.set(file, { path, ...stateOf(about) });
		}
	}
	return { files, withheld };
}

/** Returns the names in a folder in alphabetical order. */
async function namesIn(folder: string): Promise<string[]> {
	return (await readdir(folder).catch(() => [])).sort();
}

/**
 * Finds the newest version for each platform. The folder may also contain packages of other versions
 * than the list, for example an msi that is older than the packages for Linux. Devices do not report
 * their architecture, so a version counts only when each architecture of the platform has it or a
 * later one.
 */
function newestOf(
	{ version, packages }: PackageList,
	names: readonly string[],
): Releases {
	const releases: PackageRelease[] = [
		...packages.map(({ file, platform, architecture }) => ({
			platform,
			architecture,
			version: releaseOf(file)?.version ?? version,
		})),
		...names.flatMap((name) => releaseOf(name) ?? []),
	];
	const newest: Releases = {};
	for (const [platform, ofPlatform] of Map.groupBy(
		releases,
		(one) => one.platform,
	)) {
		const latest = [
			...Map.groupBy(ofPlatform, (one) => one.architecture).values(),
		].map((ofArchitecture) =>
			ofArchitecture
				.map((one) => one.version)
				.reduce((a, b) => (isLater(b, a) ? b : a)),
		);
		newest[platform] = latest.reduce((a, b) => (isLater(b, a) ? a : b));
	}
	return newest;
}

async function readText(path: string): Promise<string> {
	const { handle, state } = await openRegularFile(path);
	try {
		if (state.bytes > MAX_TEXT_BYTES) {
			throw new Error(`${path} has more than ${MAX_TEXT_BYTES} bytes`);
		}
		return await handle.readFile("utf8");
	} finally {
		await handle.close();
	}
}

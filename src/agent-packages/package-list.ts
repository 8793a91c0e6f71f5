import { z } from "zod";
import { RELEASE } from "./release.ts";

/** Name of the file that lists the newest packages of a folder. */
export const LIST_NAME = "packages.json";

const FORMATS = ["deb", "rpm", "msi", "pkg", "tar.gz"] as const;
const PACKAGE_PLATFORMS = ["LINUX", "WINDOWS", "DARWIN", "FREEBSD"] as const;

/** A file name that the service offers for download. It names no folder and is not hidden. */
export const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._~+-]{0,199}$/;

/** Returns true for a name that ends as packages do. */
export const isInFormat = (file: string): boolean =>
	FORMATS.some((format) => file.endsWith(`.${format}`));

/** Returns true for the name of a package of the agent, of any version. */
export const isPackageName = (file: string): boolean =>
	FILE_NAME.test(file) && file.startsWith("assay-agent") && isInFormat(file);

const packageFile = z.object({
	file: z.string().regex(FILE_NAME),
	platform: z.enum(PACKAGE_PLATFORMS),
	architecture: z.enum(["x64", "arm64"]),
	format: z.enum(FORMATS),
	bytes: z.int().min(0),
	/** SHA-256 in hexadecimal. */
	sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export const packageList = z.object({
	/** The newest version of the agent. */
	version: z.string().regex(RELEASE),
	/** True if the folder contains `assay-agent.asc`, the key that signed the repositories. */
	is_signed: z.boolean(),
	packages: z.array(packageFile).max(50),
});

export type PackageFile = z.infer<typeof packageFile>;
export type PackageList = z.infer<typeof packageList>;

/** Returns what the name of a package says. Throws if the name is not one of ours. */
export function describeName(
	file: string,
): Pick<PackageFile, "platform" | "architecture" | "format"> {
	const format = FORMATS.find((each) => file.endsWith(`.${each}`));
	if (!format) throw new Error(`${file} is not a package of the agent`);
	return {
		format,
		architecture: /arm64|aarch64/.test(file) ? "arm64" : "x64",
		platform:
			format === "msi"
				? "WINDOWS"
				: format === "pkg" || file.includes("darwin")
					? "DARWIN"
					: "LINUX",
	};
}

const RELEASE_IN_NAME = /^assay-agent[-_](\d{1,3}\.\d{1,3}\.\d{1,5})[-_]/;

/** The version of a package, and the devices that it is for. */
export type PackageRelease = Pick<PackageFile, "platform" | "architecture"> & {
	version: string;
};

/**
 * Returns the version of a package and what it is for, as its name says. Returns undefined if the
 * name is not one that `build:packages` gives.
 */
export function releaseOf(file: string): PackageRelease | undefined {
	const version = RELEASE_IN_NAME.exec(file)?.[1];
	if (!version || !isInFormat(file)) return undefined;
	const { platform, architecture } = describeName(file);
	return { version, platform, architecture };
}

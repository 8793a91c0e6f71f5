import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type { ClientConfig } from "pg";
import { AppError } from "../errors.ts";

/**
 * The values of `sslmode` that Assay accepts, with libpq's meaning. libpq also knows allow and
 * prefer, which go on without TLS if the server, or somebody in between, does not offer it.
 */
export const TLS_MODES = [
	"disable",
	"require",
	"verify-ca",
	"verify-full",
] as const;
type TlsMode = (typeof TLS_MODES)[number];

const isTlsMode = (text: string): text is TlsMode =>
	(TLS_MODES as readonly string[]).includes(text);

const FILES = { sslrootcert: "ca", sslcert: "cert", sslkey: "key" } as const;

/** Returns `sslmode` of the address in a setting. Throws a bad_request AppError if it is none that we accept. */
export function tlsModeOf(
	databaseUrl: string,
	setting = "DATABASE_URL",
): TlsMode | undefined {
	const { searchParams } = new URL(databaseUrl);
	const mode = searchParams.get("sslmode");
	const hasFiles = Object.keys(FILES).some((name) => searchParams.has(name));
	if (mode === null) return hasFiles ? "verify-full" : undefined;
	if (isTlsMode(mode)) return mode;
	throw new AppError(
		"bad_request",
		`sslmode in ${setting} must be one of ${TLS_MODES.join(", ")}`,
	);
}

/** Names the database at an address for people, without its user and password. */
export function placeOf(databaseUrl: string): string {
	const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
	const host = searchParams.get("host") ?? (hostname || "localhost");
	const name = decodeURIComponent(pathname.slice(1));
	return `the database ${name && `${name} `}at ${host}${port && `:${port}`}`;
}

/**
 * Returns how to connect to the server at `databaseUrl`. The driver gives `sslmode` another meaning
 * than PostgreSQL's own programs and prints a warning about that, so the parameters of TLS are read
 * here. Throws a bad_request AppError if a file that they name cannot be read.
 */
export function connectionTo(
	databaseUrl: string,
	setting = "DATABASE_URL",
): ClientConfig {
	const mode = tlsModeOf(databaseUrl, setting);
	if (mode === undefined) return { connectionString: databaseUrl };
	const url = new URL(databaseUrl);
	const { searchParams } = url;
	const files: Pick<ConnectionOptions, "ca" | "cert" | "key"> = {};
	for (const [name, option] of Object.entries(FILES)) {
		const path = searchParams.get(name);
		if (path && mode !== "disable")
			files[option] = readFile(`${name} in ${setting}`, path);
		searchParams.delete(name);
	}
	for (const name of ["sslmode", "ssl", "uselibpqcompat"]) {
		searchParams.delete(name);
	}
	return { connectionString: url.href, ssl: tlsOptions(mode, files) };
}

function tlsOptions(
	mode: TlsMode,
	files: Pick<ConnectionOptions, "ca" | "cert" | "key">,
): false | ConnectionOptions {
	switch (mode) {
		case "disable":
			return false;
		case "verify-full":
			return files;
		case "verify-ca":
			return { ...files, checkServerIdentity: () => undefined };
		case "require":
			// As with libpq, an authority that is named is checked.
			return files.ca
				? { ...files, checkServerIdentity: () => undefined }
				: { ...files, rejectUnauthorized: false };
	}
}

function readFile(name: string, path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		throw new AppError(
			"bad_request",
			`${name} names ${path}, which cannot be read (${code}); name a file in PEM format that the user of the service can read`,
			{ cause },
		);
	}
}

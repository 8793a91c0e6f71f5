import { createHash } from "node:crypto";
import type { ClientConfig, PoolClient } from "pg";
import { sealAll } from "../audit/sealer.ts";
import { makePool } from "../db/pool.ts";
import { setOrganization } from "../db/transaction-settings.ts";
import { AppError } from "../errors.ts";
import type { Services } from "../invoke.ts";
import { dayIn } from "../organizations/time-zone.ts";
import { systemPrincipal } from "../principal.ts";
import { describeVersion } from "../version.ts";
import { safeName } from "./chosen-files.ts";
import type { PackageFile, Source } from "./package-file.ts";
import { PARTS } from "./package-parts.ts";
import { readme } from "./readme.ts";
import { MAX_FILES, type PackageScope, readSubject } from "./scope.ts";
import { type ZipEntry, zipFile } from "./zip-file.ts";

/** Statements read much at once, and the transaction waits while the reader of the file is slow. */
const TIME_LIMIT_FACTOR = 20;

/** A package that has begun. It holds a connection until `content` ends or `close` is called. */
export interface AuditPackage {
	fileName: string;
	/** The bytes of the ZIP file. They may be read once. */
	content: AsyncIterable<Buffer>;
	/** Files that are in the package so far. */
	files: readonly ManifestFile[];
	close: () => Promise<void>;
}

interface ManifestFile {
	path: string;
	size_bytes: number;
	sha256: string;
	/** Number of records in a CSV or JSON Lines file, without its headings. */
	rows?: number;
}

/**
 * Begins to write the package of an audit or a period, as everything is at this moment. One
 * transaction, which sees only this organization, reads all of it, and the use of memory does not
 * depend on its size. `connection` is that of the pools of the service. Throws not_found if the organization or the audit is gone.
 */
export async function openAuditPackage(
	services: Services,
	connection: ClientConfig,
	scope: PackageScope,
	madeBy: string,
): Promise<AuditPackage> {
	// The newest entry of the audit log says that this package was made.
	await sealAll(services.pool);
	const pool = makePool(connection, {
		max: 1,
		name: "assay audit package",
		timeLimitFactor: TIME_LIMIT_FACTOR,
	});
	let client: PoolClient | undefined;
	let isClosed = false;
	const close = async () => {
		if (isClosed) return;
		isClosed = true;
		client?.release(true);
		await pool.end();
	};
	try {
		client = await pool.connect();
		const { organizationId } = scope;
		await client.query(
			`begin isolation level repeatable read read only; ${setOrganization(organizationId)}`,
		);
		const subject = await readSubject(client, scope);
		const context = contextOf(services, client, organizationId);
		const source = { context, scope, subject };
		const files: ManifestFile[] = [];
		async function* content() {
			try {
				yield* zipFile(entriesOf(source, madeBy, files), new Date(subject.now));
			} finally {
				await close();
			}
		}
		const { organization, timeZone, now } = subject;
		const fileName = `${safeName(organization)}-audit-package-${dayIn(timeZone, now)}.zip`;
		return { fileName, content: content(), files, close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** Lists are read as an administrator reads them, because only an administrator asks for a package. */
function contextOf(
	services: Services,
	client: PoolClient,
	organizationId: string,
): Source["context"] {
	const readsOnly = () => {
		throw new Error("a package only reads");
	};
	return {
		client,
		services,
		principal: systemPrincipal(organizationId),
		membership: { organizationId, role: "admin" },
		changed: readsOnly,
		happened: readsOnly,
		afterCommit: readsOnly,
	};
}

/** Yields the files of the package, and then the lists of their digests. */
async function* entriesOf(
	source: Source,
	madeBy: string,
	files: ManifestFile[],
): AsyncGenerator<ZipEntry> {
	yield digested(textFile("README.txt", readme(source, madeBy)), files);
	for (const { files: filesOf } of PARTS) {
		for await (const file of filesOf(source)) {
			// The files are counted when somebody asks for a package. There may be more since then.
			if (files.length > MAX_FILES + 1000) throw tooManyFiles();
			yield digested(file, files);
		}
	}
	const { scope, subject } = source;
	const manifest = {
		format: "assay-audit-package",
		version: 1,
		organization: { id: scope.organizationId, name: subject.organization },
		audit: subject.audit,
		period: {
			from: scope.from,
			until: scope.until,
			time_zone: subject.timeZone,
		},
		made_at: subject.now,
		made_by: madeBy,
		assay_version: describeVersion(),
		with_files: scope.withFiles,
		files: [...files],
	};
	const text = `${JSON.stringify(manifest, null, "\t")}\n`;
	yield digested(textFile("manifest.json", text), files);
	const sums = files.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join("");
	yield digested(textFile("SHA256SUMS", sums), []);
}

function tooManyFiles(): AppError {
	return new AppError(
		"bad_request",
		`the package has more than ${MAX_FILES} files; choose a shorter period, or leave out the files of evidence`,
	);
}

function textFile(path: string, text: string): PackageFile {
	async function* content() {
		yield text;
	}
	return { path, content: content() };
}

/** Notes the digest, size and rows of a file once it has been read. */
function digested(file: PackageFile, files: ManifestFile[]): ZipEntry {
	const { path, rows } = file;
	async function* content() {
		const hash = createHash("sha256");
		let size = 0;
		for await (const part of file.content) {
			const bytes = typeof part === "string" ? Buffer.from(part) : part;
			hash.update(bytes);
			size += bytes.length;
			yield bytes;
		}
		files.push({
			path,
			size_bytes: size,
			sha256: hash.digest("hex"),
			...(rows && { rows: rows() }),
		});
	}
	return { path, content: content() };
}

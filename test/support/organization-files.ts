import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { sealAll } from "../../src/audit/sealer.ts";
import { type ChainReport, verifyLog } from "../../src/audit/verify.ts";
import {
	type ExportOptions,
	openOrganizationExport,
} from "../../src/backup/export-organization.ts";
import {
	type Imported,
	importOrganization,
} from "../../src/backup/import-organization.ts";
import { makePool } from "../../src/db/pool.ts";

/** Exports an organization of the database, and returns the file. */
export async function exportOf(
	url: string,
	organizationId: string,
	options?: ExportOptions,
): Promise<Buffer> {
	const opened = await openOrganizationExport(
		{ connectionString: url },
		organizationId,
		options,
	);
	return buffer(Readable.from(opened.content));
}

/** Imports a file that arrives in small pieces, as through a pipe. */
export function importInto(url: string, file: Buffer): Promise<Imported> {
	const pieces = function* () {
		for (let at = 0; at < file.length; at += 1000) {
			yield file.subarray(at, at + 1000);
		}
	};
	return importOrganization(
		{ connectionString: url },
		Readable.from(pieces()),
		() => {},
	);
}

/** Seals the entries of the database, and verifies the log of an organization. */
export async function verifyLogOf(
	url: string,
	organizationId: string,
): Promise<ChainReport> {
	const service = makePool({ connectionString: url }, { max: 1 });
	const audit = makePool({ connectionString: url }, { max: 1, role: "audit" });
	try {
		await sealAll(service);
		return await verifyLog(audit, organizationId);
	} finally {
		await service.end();
		await audit.end();
	}
}

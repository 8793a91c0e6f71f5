import { nameOf } from "./archive-files.ts";
import type { ArchiveSession, Part } from "./archive-session.ts";
import { type ResultRow, readParquetFile } from "./parquet-file.ts";

/**
 * Deletes the files of deleted organizations. Returns their number. Each run uses another order, so
 * that files that cannot be deleted do not hold up the others.
 */
export async function removeLeftovers(
	session: ArchiveSession,
): Promise<number> {
	const names = await session.query<{ name: string }>(
		"select name from archive_leftovers order by random()",
	);
	let removed = 0;
	for (const { name } of names) {
		const outcome = await session.attempt(name, async () => {
			await session.store.remove(name);
			await session.query("delete from archive_leftovers where name = $1", [
				name,
			]);
			removed++;
		});
		if (outcome === "stop") break;
	}
	return removed;
}

interface Repair extends Part {
	/** SHA-256 of the file that was stored last. */
	sha256: string;
	/** True if the database has all reports of the file. */
	isPacked: boolean;
}

/**
 * Writes again the files with devices that were deleted or whose reports were extended. Other rows
 * come from the file, because their month may be gone from the database. Returns the number of files.
 */
export async function repairFiles(session: ArchiveSession): Promise<number> {
	let repaired = 0;
	const failed: string[] = [];
	for (;;) {
		const [file] = await session.query<Repair>(
			`select f.organization_id as "organizationId", to_char(f.month, 'YYYY-MM-DD') as month, f.part,
				f.first_device_id as "firstDevice", f.last_device_id as "lastDevice",
				encode(f.sha256, 'hex') as sha256,
				not f.is_only_copy
					and to_regclass('packed_posture_reports_' || to_char(f.month, 'YYYY_MM')) is not null as "isPacked"
			from archive_files f
			where f.sha256 is not null and f.name <> all ($1) and exists (
				select from archive_changes c
				where c.organization_id = f.organization_id and c.month = f.month
					and c.device_id between f.first_device_id and f.last_device_id
			)
			order by random() limit 1`,
			[failed],
		);
		if (!file) break;
		const name = nameOf(file);
		const outcome = await session.attempt(name, async () => {
			if (await repair(session, file)) repaired++;
			else {
				failed.push(name);
				session.failures.push({ name, reason: LOST });
			}
		});
		if (outcome === "failed") failed.push(name);
		if (outcome === "stop") break;
	}
	// Other changes concern files that are gone with their organization.
	await session.query(
		`delete from archive_changes c where not exists (
			select from archive_files f
			where f.organization_id = c.organization_id and f.month = c.month
				and c.device_id between f.first_device_id and f.last_device_id
		)`,
	);
	return repaired;
}

const LOST =
	"the archive lacks this file, and the database no longer has its month; if it is lost for good, run `assay archive verify --forget-missing`";

/** Returns false if the file is missing and the database no longer has its reports. */
async function repair(session: ArchiveSession, file: Repair): Promise<boolean> {
	// A change has another version when it is noted again.
	const changed = await session.query<{ id: string; version: string }>(
		`select device_id as id, xmin::text as version from archive_changes
		where organization_id = $1 and month = $2 and device_id between $3 and $4`,
		[file.organizationId, file.month, file.firstDevice, file.lastDevice],
	);
	const ids = changed.map(({ id }) => id);
	if (file.isPacked) await session.waitForWriters(file.month);
	const stored = await session.fetch(nameOf(file));
	if (!stored && !file.isPacked) return false;
	// After a crash, a file may be newer than its row says, so it counts if nothing else has its rows.
	const isSound = stored?.sha256 === file.sha256 || !file.isPacked;
	await session.write(
		file,
		stored && isSound
			? readRepaired(session, file, ids, stored.path)
			: session.readPacked(file),
	);
	// Only now, so that no change is lost when the process is killed.
	await session.query(
		`delete from archive_changes c using unnest($3::text[], $4::text[]) s (id, version)
		where c.organization_id = $1 and c.month = $2
			and c.device_id = s.id and c.xmin::text = s.version`,
		[
			file.organizationId,
			file.month,
			ids,
			changed.map(({ version }) => version),
		],
	);
	return true;
}

/** If the month is gone from the database, only rows of deleted devices are left out. */
async function* readRepaired(
	session: ArchiveSession,
	file: Repair,
	changed: string[],
	path: string,
): AsyncGenerator<ResultRow> {
	const replaced = new Set(
		file.isPacked ? changed : await findDeleted(session, file, changed),
	);
	for await (const row of readParquetFile(path)) {
		if (!replaced.has(row.device_id)) yield row;
	}
	if (!file.isPacked) return;
	for (const device of changed.toSorted()) {
		yield* session.readPacked({
			...file,
			firstDevice: device,
			lastDevice: device,
		});
	}
}

async function findDeleted(
	session: ArchiveSession,
	file: Part,
	devices: string[],
): Promise<string[]> {
	const rows = await session.query<{ id: string }>(
		`select c.id from unnest($2::text[]) c (id)
		where not exists (select from devices d where d.organization_id = $1 and d.id = c.id)`,
		[file.organizationId, devices],
	);
	return rows.map(({ id }) => id);
}

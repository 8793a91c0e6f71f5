import { nameOf } from "./archive-files.ts";
import type { ArchiveSession, Part } from "./archive-session.ts";

/** Number of devices in a file: about 5 million results of hourly reports. */
const FILE_DEVICES = 1_000;

/**
 * SQL that is true for packed reports `p` that are in no file. The devices of files do not overlap, so
 * only the last file that begins before the device can have it.
 */
const IN_NO_FILE = `not exists (
	select from (
		select f.last_device_id from archive_files f
		where f.organization_id = p.organization_id and f.month = p.month and f.sha256 is not null
			and f.first_device_id <= p.device_id
		order by f.first_device_id desc limit 1
	) l
	where l.last_device_id >= p.device_id
)`;

/**
 * Archives the packed months that are not yet in the archive, oldest first. Returns those that are
 * complete. A month that has plain reports too waits until these are packed.
 */
export async function addMonths(session: ArchiveSession): Promise<string[]> {
	const months = await session.query<{ month: string }>(
		`select to_char(m.month, 'YYYY-MM-DD') as month
		from pg_inherits i
		join pg_class c on c.oid = i.inhrelid
		cross join lateral (select to_date(right(c.relname, 7), 'YYYY_MM') as month) m
		where i.inhparent = 'packed_posture_reports'::regclass
			and c.relname ~ '^packed_posture_reports_\\d{4}_\\d\\d$'
			and to_regclass(replace(c.relname, 'packed_', '')) is null
			and not exists (select from archived_months a where a.month = m.month)
		order by 1`,
	);
	const archived: string[] = [];
	for (const { month } of months) {
		const outcome = await session.attempt(month.slice(0, 7), async () => {
			if (await addMonth(session, month)) archived.push(month);
		});
		if (outcome === "stop") break;
	}
	return archived;
}

async function addMonth(
	session: ArchiveSession,
	month: string,
): Promise<boolean> {
	for (
		let organizationId = await nextOrganization(session, month, "");
		organizationId !== undefined;
		organizationId = await nextOrganization(session, month, organizationId)
	) {
		await addOrganization(session, month, organizationId);
	}
	// Reports that came in between, such as those of an import, are archived by the next run.
	const noted = await session.queryBetweenMoves(
		month,
		`insert into archived_months (month)
		select $1::date where not exists (
			select from packed_posture_reports p where p.month = $1::date and ${IN_NO_FILE}
		)
		returning month`,
		[month],
	);
	return noted.length > 0;
}

async function nextOrganization(
	session: ArchiveSession,
	month: string,
	after: string,
): Promise<string | undefined> {
	const [row] = await session.query<{ id: string }>(
		`select organization_id as id from packed_posture_reports
		where month = $1 and organization_id > $2 order by organization_id limit 1`,
		[month, after],
	);
	return row?.id;
}

/** Writes the files of an organization for the devices that are in none. */
async function addOrganization(
	session: ArchiveSession,
	month: string,
	organizationId: string,
): Promise<void> {
	const of = [organizationId, month];
	const [last] = await session.query<{ part: number }>(
		`select coalesce(max(part), 0) as part from archive_files
		where organization_id = $1 and month = $2 and sha256 is not null`,
		of,
	);
	let part = last?.part ?? 0;
	for (let after = ""; ; ) {
		const range = await nextRange(session, month, organizationId, after);
		if (!range) return;
		part++;
		const file: Part = { organizationId, month, part, ...range };
		await announce(session, file);
		await session.write(file, session.readPacked(file));
		after = range.lastDevice;
	}
}

/** Returns the devices of the next file: those that are in none, up to the devices of another one. */
async function nextRange(
	session: ArchiveSession,
	month: string,
	organizationId: string,
	after: string,
): Promise<{ firstDevice: string; lastDevice: string } | undefined> {
	const of = [organizationId, month];
	const [first] = await session.query<{ id: string; before: string | null }>(
		`select p.device_id as id,
			(
				select min(f.first_device_id) from archive_files f
				where f.organization_id = p.organization_id and f.month = p.month
					and f.sha256 is not null and f.first_device_id > p.device_id
			) as before
		from packed_posture_reports p
		where p.organization_id = $1 and p.month = $2 and p.device_id > $3 and ${IN_NO_FILE}
		order by p.device_id limit 1`,
		[...of, after],
	);
	if (!first) return undefined;
	const [last] = await session.query<{ id: string | null }>(
		`select max(d.device_id) as id from (
			select distinct p.device_id from packed_posture_reports p
			where p.organization_id = $1 and p.month = $2 and p.device_id >= $3
				and ($4::text is null or p.device_id < $4)
			order by p.device_id limit $5
		) d`,
		[
			...of,
			first.id,
			first.before,
			session.options.fileDevices ?? FILE_DEVICES,
		],
	);
	if (!last?.id) return undefined;
	return { firstDevice: first.id, lastDevice: last.id };
}

/**
 * Adds the row of a file that will be written. From then on, every change of its devices is noted.
 * Changes that began before are finished when this returns, so that the next statement sees them.
 */
async function announce(session: ArchiveSession, file: Part): Promise<void> {
	const name = nameOf(file);
	await session.query(
		`insert into archive_files (organization_id, month, part, name, first_device_id, last_device_id)
		values ($1, $2, $3, $4, $5, $6)
		on conflict (organization_id, month, part) do update
		set first_device_id = excluded.first_device_id, last_device_id = excluded.last_device_id`,
		[
			file.organizationId,
			file.month,
			file.part,
			name,
			file.firstDevice,
			file.lastDevice,
		],
	);
	// An earlier file with this name, such as one of the same organization before it was deleted and
	// imported again, will be overwritten. Its deletion would take the new one away.
	await session.query("delete from archive_leftovers where name = $1", [name]);
	await session.waitForWriters(file.month);
}

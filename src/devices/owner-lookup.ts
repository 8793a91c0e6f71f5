import { textArray } from "../db/array.ts";
import type { Context } from "../operation.ts";

/** One entry with a device and its owner. */
interface Wanted {
	device: string;
	owner: string | null;
}

export interface Problem {
	/** Place of the entry among all entries, from 0 on. */
	index: number;
	field: keyof Wanted;
	message: string;
}

export interface Found {
	ordinal: number;
	devices: string[];
	people: string[];
	is_owned: boolean;
	/** Ordinal of the earlier entry with the same device. */
	earlier?: number | undefined;
}

/** Finds what the entries name, and what is wrong with them. `nameOf` names one to the caller. */
export async function examine(
	context: Context,
	owners: readonly Wanted[],
	nameOf: (index: number) => string,
) {
	const found = await find(context, owners);
	const problems = found.flatMap((one) => problemsOf(one, owners, nameOf));
	return { found, problems };
}

/**
 * Finds the devices and the people of all entries with one statement. A revoked device is found
 * only by its id, because the machine may have another record by now. An id wins over a serial number
 * or hostname with the same text. A PENDING device is found only if no other device matches, because
 * it reports a serial number and a hostname before anybody approves it.
 *
 * Each way to name a device or a person is a join of its own, which PostgreSQL hashes. Thousands of
 * entries thus cost a few scans, and not one each.
 */
async function find(
	{ client, membership }: Context,
	owners: readonly Wanted[],
): Promise<Found[]> {
	const { rows } = await client.query<Found>(
		`with given as materialized (
			select n::int as ordinal, g.device, g.owner
			from unnest($2::text[], $3::text[]) with ordinality g (device, owner, n)
		), devices_named as (
			select g.ordinal, d.id::text as id, d.id = g.device as is_id, d.status
			from given g join devices d on d.organization_id = $1 and d.id = g.device
			union
			select g.ordinal, d.id::text, d.id = g.device, d.status
			from given g join devices d on d.organization_id = $1
				and lower(d.serial_number) = lower(g.device) and d.status <> 'REVOKED'
			union
			select g.ordinal, d.id::text, d.id = g.device, d.status
			from given g join devices d on d.organization_id = $1
				and lower(d.hostname) = lower(g.device) and d.status <> 'REVOKED'
		), devices_ranked as (
			select ordinal, id, rank() over (
				partition by ordinal order by is_id desc, status = 'PENDING'
			) as place
			from devices_named
		), devices_found as (
			select r.ordinal, array_agg(r.id order by r.id) as ids
			from devices_ranked r
			where r.place = 1
			group by 1
		), people_named as (
			select g.ordinal, p.id::text as id
			from given g join people p on p.organization_id = $1 and p.id = g.owner
			union
			select g.ordinal, p.id::text
			from people p
			cross join unnest(p.primary_email_address || p.additional_email_addresses) a (address)
			join given g on lower(g.owner) = lower(a.address)
			where p.organization_id = $1
		), people_found as (
			select ordinal, array_agg(id order by id) as ids
			from people_named
			group by 1
		)
		select g.ordinal, coalesce(d.ids, '{}') as devices, coalesce(p.ids, '{}') as people,
			coalesce((
				select o.owner_id is not distinct from p.ids[1] and o.claimed_owner_id is null
				from devices o where o.organization_id = $1 and o.id = d.ids[1]
			), false) as is_owned
		from given g
		left join devices_found d on d.ordinal = g.ordinal
		left join people_found p on p.ordinal = g.ordinal
		order by g.ordinal`,
		[
			membership.organizationId,
			textArray(owners.map(({ device }) => device.trim())),
			textArray(owners.map(({ owner }) => owner?.trim() ?? null)),
		],
	);
	const seen = new Map<string, number>();
	for (const row of rows) {
		const [id] = row.devices;
		if (id === undefined || row.devices.length > 1) continue;
		row.earlier = seen.get(id);
		if (row.earlier === undefined) seen.set(id, row.ordinal);
	}
	return rows;
}

function problemsOf(
	{ ordinal, devices, people, earlier }: Found,
	owners: readonly Wanted[],
	nameOf: (index: number) => string,
): Problem[] {
	const index = ordinal - 1;
	const { device, owner } = owners[index] as Wanted;
	const problems: Problem[] = [];
	const note = (field: Problem["field"], message: string) =>
		problems.push({ index, field, message });
	if (devices.length === 0) {
		note(
			"device",
			`no device has the serial number, hostname or id ${device}; a revoked device is found only by its id`,
		);
	} else if (devices.length > 1) {
		note(
			"device",
			`${devices.length} devices have the serial number or hostname ${device}; give the id of one`,
		);
	} else if (earlier !== undefined) {
		note(
			"device",
			`${device} is the device of ${nameOf(earlier - 1)}; name each device once`,
		);
	}
	if (owner !== null && people.length === 0) {
		note(
			"owner",
			`no person has the id or e-mail address ${owner}; give that of a person in the register People`,
		);
	} else if (people.length > 1) {
		note(
			"owner",
			`${people.length} people have the e-mail address ${owner}; give the id of one`,
		);
	}
	return problems;
}

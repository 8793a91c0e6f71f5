import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields, type FieldIssue } from "../errors.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { lineSchema } from "../records/text-schemas.ts";
import { changeDevices } from "./fleet-operations.ts";
import { MAX_CELL, MAX_OWNERS, NOBODY, readOwnerFile } from "./owner-file.ts";

/** Most problems that an error names. A dry run returns them all. */
const MAX_NAMED = 5;
const MAX_CSV = 1_000_000;

const dryRun = z
	.boolean()
	.optional()
	.describe("Only say what would change; false by default");

/** One entry with a device and its owner. */
interface Wanted {
	device: string;
	owner: string | null;
}

interface Problem {
	/** Place of the entry among all entries, from 0 on. */
	index: number;
	field: keyof Wanted;
	message: string;
}

interface Found {
	ordinal: number;
	devices: string[];
	people: string[];
	is_owned: boolean;
	/** Ordinal of the earlier entry with the same device. */
	earlier?: number | undefined;
}

export const setDeviceOwners = defineOperation({
	name: "setDeviceOwners",
	title: "Set the owners of devices",
	description:
		"Set the owners of many devices, named by id, serial number or hostname, to people named by id or e-mail address. With dry_run, nothing changes and problems says what is wrong with which entry; without it, an entry with a problem fails the whole call.",
	toolset: "fleet",
	access: "write",
	isIdempotent: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		owners: z
			.array(
				z.strictObject({
					device: lineSchema(MAX_CELL).describe(
						"Its id, serial number or hostname",
					),
					owner: lineSchema(MAX_CELL)
						.nullable()
						.describe("Id or e-mail address of a person; null: nobody"),
				}),
			)
			.min(1)
			.max(MAX_OWNERS)
			.describe(`Up to ${MAX_OWNERS} devices`),
		dry_run: dryRun,
	}),
	output: z.object({
		changed_device_ids: z
			.array(z.string())
			.describe("With dry_run: the devices that would change"),
		unchanged_device_ids: z.array(z.string()),
		problems: z.array(
			z.object({
				index: z.int(),
				field: z.enum(["device", "owner"]),
				message: z.string(),
			}),
		),
	}),
	run: async (context, { owners, dry_run }) => {
		const { found, problems } = await examine(
			context,
			owners,
			(index) => `owners[${index}]`,
		);
		if (dry_run) return { ...outcomeOf(found, problems), problems };
		if (problems.length > 0) {
			throw wrongEntries(
				problems.map(({ index, field, message }) => ({
					field: `owners[${index}].${field}`,
					message,
				})),
			);
		}
		return { ...(await setOwners(context, found)), problems: [] };
	},
});

export const importDeviceOwners = defineOperation({
	name: "importDeviceOwners",
	title: "Import owners of devices",
	description: `Set the owners of devices from CSV with the columns device (id, serial number or hostname) and owner (id or e-mail address of a person; ${NOBODY}: no owner; empty: left as it is). Like setDeviceOwners, with dry_run too.`,
	toolset: "fleet",
	access: "write",
	isIdempotent: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		csv: z
			.string()
			.max(MAX_CSV)
			.describe("The text of the file, with a line of headings"),
		dry_run: dryRun,
	}),
	output: setDeviceOwners.output.extend({
		lines_without_owner: z
			.array(z.int())
			.describe("Lines whose owner is empty; their devices stay as they are"),
		problems: z.array(
			z.object({
				line: z.int().describe("The headings are line 1"),
				field: z.enum(["device", "owner"]),
				message: z.string(),
			}),
		),
	}),
	run: async (context, { csv, dry_run }) => {
		const file = await readOwnerFile(csv);
		const lineAt = (index: number) => file.owners[index]?.line ?? 0;
		const { found, problems } = await examine(
			context,
			file.owners,
			(index) => `line ${lineAt(index)}`,
		);
		const inLines = [
			...file.problems,
			...problems.map(({ index, ...rest }) => ({
				line: lineAt(index),
				...rest,
			})),
		].sort((a, b) => a.line - b.line);
		const { linesWithoutOwner: lines_without_owner } = file;
		if (dry_run) {
			const outcome = outcomeOf(found, problems);
			return { ...outcome, lines_without_owner, problems: inLines };
		}
		if (inLines.length > 0) {
			throw wrongEntries(
				inLines.map(({ line, field, message }) => ({
					field: "csv",
					message: `line ${line}, ${field}: ${message}`,
				})),
			);
		}
		const changed = await setOwners(context, found);
		return { ...changed, lines_without_owner, problems: [] };
	},
});

export const ownerOperations = [setDeviceOwners, importDeviceOwners] as const;

/** Finds what the entries name, and what is wrong with them. `nameOf` names one to the caller. */
async function examine(
	context: Context,
	owners: readonly Wanted[],
	nameOf: (index: number) => string,
) {
	const found = await find(context, owners);
	const problems = found.flatMap((one) => problemsOf(one, owners, nameOf));
	return { found, problems };
}

function wrongEntries(issues: FieldIssue[]) {
	const more = issues.length - MAX_NAMED;
	return badFields([
		...issues.slice(0, MAX_NAMED),
		...(more > 0
			? [{ field: "", message: `and ${more} more, which dry_run names` }]
			: []),
	]);
}

/** Returns which devices change, of the entries without a problem. */
function outcomeOf(found: readonly Found[], problems: readonly Problem[]) {
	const good = found.filter(
		({ ordinal }) => !problems.some(({ index }) => index === ordinal - 1),
	);
	const idsOf = (wanted: boolean) =>
		good
			.filter(({ is_owned }) => is_owned === wanted)
			.map(({ devices }) => devices[0] as string);
	return {
		changed_device_ids: idsOf(false),
		unchanged_device_ids: idsOf(true),
	};
}

async function setOwners(context: Context, found: readonly Found[]) {
	if (found.length === 0) {
		return { changed_device_ids: [], unchanged_device_ids: [] };
	}
	return changeDevices(
		context,
		found.map(({ devices }) => devices[0] as string),
		["owner_id", "claimed_owner_id"],
		`update devices d
		set owner_id = g.owner, claimed_owner_id = null, updated_at = now()
		from locked b
		join unnest($2::text[], $3::text[]) g (id, owner) on g.id = b.id
		where d.organization_id = $1 and d.id = b.id
			and (b.owner_id is distinct from g.owner or b.claimed_owner_id is not null)
		returning d.id, coalesce(d.name, d.hostname) as name,
			jsonb_build_array(b.owner_id, b.claimed_owner_id) as before,
			jsonb_build_array(d.owner_id, null) as after`,
		[textArray(found.map(({ people }) => people[0] ?? null))],
	);
}

/**
 * Finds the devices and the people of all entries with one statement. A revoked device is found
 * only by its id, because the machine may have another record by now. An id wins over a serial number
 * or hostname with the same text. A PENDING device is found only if no other device matches, because
 * it reports a serial number and a hostname before anybody approves it.
 */
async function find(
	{ client, membership }: Context,
	owners: readonly Wanted[],
): Promise<Found[]> {
	const { rows } = await client.query<Found>(
		`with given as materialized (
			select n::int as ordinal, g.device, g.owner
			from unnest($2::text[], $3::text[]) with ordinality g (device, owner, n)
		), devices_ranked as (
			select g.ordinal, d.id::text as id, rank() over (
				partition by g.ordinal
				order by d.id = g.device desc, d.status = 'PENDING'
			) as place
			from given g
			join devices d on d.organization_id = $1 and (
				d.id = g.device
				or d.status <> 'REVOKED'
					and (lower(d.serial_number) = lower(g.device) or lower(d.hostname) = lower(g.device))
			)
		), devices_found as (
			select r.ordinal, array_agg(r.id order by r.id) as ids
			from devices_ranked r
			where r.place = 1
			group by 1
		), people_found as (
			select g.ordinal, array_agg(distinct p.id::text) as ids
			from given g
			join people p on p.organization_id = $1 and (
				p.id = g.owner or lower(p.primary_email_address) = lower(g.owner)
				or lower(g.owner) in (select lower(a) from unnest(p.additional_email_addresses) a)
			)
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

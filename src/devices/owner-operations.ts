import { Readable } from "node:stream";
import { z } from "zod";
import { readTable } from "../csv/read-table.ts";
import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { lineSchema } from "../records/text-schemas.ts";
import { changeDevices } from "./fleet-operations.ts";
import { visibleText } from "./visible-text.ts";

const MAX_OWNERS = 500;
const MAX_NAME = 320;

const MAX_CSV = 1_000_000;

const dryRun = z
	.boolean()
	.optional()
	.describe("Only say what would change; false by default");

interface Found {
	ordinal: number;
	devices: string[];
	people: string[];
	is_owned: boolean;
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
					device: lineSchema(MAX_NAME).describe(
						"Its id, serial number or hostname",
					),
					owner: lineSchema(MAX_NAME)
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
		problems: z.array(z.object({ index: z.int(), message: z.string() })),
	}),
	run: async (context, { owners, dry_run }) => {
		const found = await find(context, owners);
		const problems = found.flatMap((one) => problemsOf(one, owners));
		if (dry_run) {
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
				problems,
			};
		}
		if (problems.length > 0) {
			throw badFields(
				problems.slice(0, 5).map(({ index, message }) => ({
					field: `owners[${index}]`,
					message,
				})),
			);
		}
		const changed = await changeDevices(
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
		return { ...changed, problems: [] };
	},
});

export const importDeviceOwners = defineOperation({
	name: "importDeviceOwners",
	title: "Import owners of devices",
	description:
		"Set the owners of devices from CSV with the columns device (id, serial number or hostname) and owner (id or e-mail address of a person; empty: nobody). Like setDeviceOwners, with dry_run too.",
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
	output: setDeviceOwners.output,
	run: async (context, { csv, ...input }) => {
		const { heading, lines } = await readTable(
			Readable.from([Buffer.from(csv)]),
		);
		const columns = heading.map((name) => name.trim().toLowerCase());
		const [device, owner] = ["device", "owner"].map((name) =>
			columns.indexOf(name),
		);
		if (
			device === undefined ||
			owner === undefined ||
			device < 0 ||
			owner < 0
		) {
			throw badFields([
				{
					field: "csv",
					message: `must have the columns device and owner; it has ${visibleText(columns.join(", ")).slice(0, 200)}`,
				},
			]);
		}
		if (lines.length === 0 || lines.length > MAX_OWNERS) {
			throw badFields([
				{
					field: "csv",
					message: `must have 1 to ${MAX_OWNERS} lines below the headings; it has ${lines.length}`,
				},
			]);
		}
		const owners = lines.map(({ cells }) => ({
			device: cells[device] ?? "",
			owner: cells[owner]?.trim() || null,
		}));
		return setDeviceOwners.run(context, { ...input, owners });
	},
});

export const ownerOperations = [setDeviceOwners, importDeviceOwners] as const;

type Wanted = { device: string; owner: string | null };

/**
 * Finds the devices and the people of all entries with one statement. A revoked device is found
 * only by its id, because the machine may have another record by now.
 */
async function find(
	{ client, membership }: Context,
	owners: readonly Wanted[],
): Promise<Found[]> {
	const { rows } = await client.query<Found>(
		`with given as materialized (
			select n::int as ordinal, g.device, g.owner
			from unnest($2::text[], $3::text[]) with ordinality g (device, owner, n)
		), devices_found as (
			select g.ordinal, array_agg(d.id::text order by d.id) as ids
			from given g
			join devices d on d.organization_id = $1 and (
				d.id = g.device
				or d.status <> 'REVOKED'
					and (lower(d.serial_number) = lower(g.device) or lower(d.hostname) = lower(g.device))
			)
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
		if (seen.has(id)) row.devices.push(id);
		seen.set(id, row.ordinal);
	}
	return rows;
}

function problemsOf(
	{ ordinal, devices, people }: Found,
	owners: readonly Wanted[],
): { index: number; message: string }[] {
	const index = ordinal - 1;
	const { device, owner } = owners[index] as Wanted;
	const messages: string[] = [];
	if (devices.length === 0) {
		messages.push(`no device has the id, serial number or hostname ${device}`);
	} else if (devices.length > 1) {
		messages.push(
			devices[0] === devices[1]
				? `${device} is the device of an earlier entry; name each device once`
				: `${devices.length} devices have the serial number or hostname ${device}; give the id of one`,
		);
	}
	if (owner !== null && people.length === 0) {
		messages.push(`no person has the id or e-mail address ${owner}`);
	} else if (people.length > 1) {
		messages.push(
			`${people.length} people have the e-mail address ${owner}; give the id of one`,
		);
	}
	return messages.map((message) => ({ index, message }));
}

import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields, type FieldIssue } from "../errors.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { lineSchema } from "../records/text-schemas.ts";
import { MAX_DEVICES_OF_CALL } from "./fleet-limits.ts";
import { changeDevices } from "./fleet-operations.ts";
import { MAX_CELL, NOBODY, readOwnerFile } from "./owner-file.ts";
import { examine, type Found, type Problem } from "./owner-lookup.ts";

/** Most problems that an error names. A dry run returns them all. */
const MAX_NAMED = 5;
const MAX_CSV = 1_000_000;

const dryRun = z
	.boolean()
	.optional()
	.describe("Only say what would change; false by default");

export const setDeviceOwners = defineOperation({
	name: "setDeviceOwners",
	title: "Set the owners of devices",
	description:
		"Set the owners of many devices. With dry_run, nothing changes and problems says what is wrong with which entry; without it, an entry with a problem fails the whole call.",
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
			.max(MAX_DEVICES_OF_CALL)
			.describe(`Up to ${MAX_DEVICES_OF_CALL} devices`),
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
	description: `Set the owners of devices from CSV with the columns device and owner, as in setDeviceOwners (${NOBODY}: no owner; empty: left as it is). Without dry_run, at most ${MAX_DEVICES_OF_CALL} lines from first_line to last_line.`,
	toolset: "fleet",
	access: "write",
	isIdempotent: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		csv: z.string().max(MAX_CSV).describe("With headings, which are line 1"),
		first_line: z.int().optional().describe("First line"),
		last_line: z.int().optional().describe("Last line"),
		dry_run: dryRun,
	}),
	output: setDeviceOwners.output.extend({
		lines_without_owner: z
			.array(z.int())
			.describe("Lines whose owner is empty; their devices stay as they are"),
		last_line: z.int().describe("Last line of the whole file"),
		problems: z.array(
			z.object({
				line: z.int().describe("The headings are line 1"),
				field: z.enum(["device", "owner"]),
				message: z.string(),
			}),
		),
	}),
	run: async (context, { csv, first_line, last_line, dry_run }) => {
		const file = await readOwnerFile(csv, {
			first: first_line ?? 2,
			last: last_line ?? Number.POSITIVE_INFINITY,
			most: dry_run ? Number.POSITIVE_INFINITY : MAX_DEVICES_OF_CALL,
		});
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
		const ofFile = {
			lines_without_owner: file.linesWithoutOwner,
			last_line: file.lastLine,
		};
		if (dry_run) {
			const outcome = outcomeOf(found, problems);
			return { ...outcome, ...ofFile, problems: inLines };
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
		return { ...changed, ...ofFile, problems: [] };
	},
});

export const ownerOperations = [setDeviceOwners, importDeviceOwners] as const;

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
	const wrong = new Set(problems.map(({ index }) => index));
	const good = found.filter(({ ordinal }) => !wrong.has(ordinal - 1));
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

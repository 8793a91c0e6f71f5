import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { setOrganization } from "../db/transaction-settings.ts";
import {
	HEARTBEAT_SECONDS,
	intervalWarnings,
	POSTURE_SECONDS,
} from "../devices/terms.ts";
import { AppError } from "../errors.ts";
import { makeOrganizationId } from "../id.ts";
import { moveDigests } from "../notifications/next-digest.ts";
import { type Context, defineOperation } from "../operation.ts";
import { appendedTexts, appendShape } from "../records/append.ts";
import { DISTINCT } from "../records/distinct.ts";
import {
	byText,
	byTime,
	listInput,
	organizationId,
	pageShape,
	readPage,
} from "../records/list-pages.ts";
import { nameSchema, textSchema } from "../records/text-schemas.ts";
import { requireUnchanged, unchangedShape } from "../records/unchanged.ts";
import type { Values } from "../records/values.ts";
import { addMember } from "../sign-in/users.ts";
import { endedMemberships } from "./ended-memberships.ts";
import { insertOrganization } from "./organization-store.ts";
import { addPersonOf } from "./person-of-member.ts";
import { requireTimeZone, timeZoneSchema } from "./time-zone.ts";

/** The first steps of a new organization. */
export const FIRST_STEPS = [
	"RECORDS",
	"DEVICE",
	"PEOPLE",
	"API_TOKEN",
] as const;

const organization = z.object({
	id: z.string(),
	name: z.string(),
	description: z.string().nullable(),
	time_zone: z.string().describe("Its days begin and end by this time zone"),
	heartbeat_interval_seconds: z
		.int()
		.describe("Seconds between the heartbeats of a device"),
	posture_interval_seconds: z
		.int()
		.describe("Seconds between the posture reports of a device"),
	skipped_steps: z
		.array(z.enum(FIRST_STEPS))
		.describe("First steps that its administrators leave out"),
	created_at: z.string(),
	updated_at: z.string(),
});

type Organization = z.input<typeof organization>;

const COLUMNS =
	"t.id, t.name, t.description, t.time_zone, t.heartbeat_interval_seconds, t.posture_interval_seconds, t.skipped_steps, t.created_at, t.updated_at";

const orders = {
	created_at: byTime("created_at"),
	updated_at: byTime("updated_at"),
	name: byText("name"),
};

/**
 * Makes the operation. `toolsets` is a function, because the list of operations is complete only
 * when this operation is in it.
 */
export const makeListOrganizations = (toolsets: () => readonly string[]) =>
	defineOperation({
		name: "listOrganizations",
		title: "List organizations",
		description:
			"List the organizations that you may view, with your role in each, today's date and all toolsets. Call it first: most other tools need an organization_id.",
		toolset: "organizations",
		access: "read",
		tenant: null,
		input: listInput(orders, {}).omit({ organization_id: true }),
		output: z.object({
			organizations: z.array(
				organization.extend({
					role: z
						.enum(["viewer", "member", "admin"])
						.describe("Your role in it"),
					writable_registers: z
						.array(z.string())
						.nullable()
						.describe("Toolsets of the only registers that you may write"),
					reads_audit_log: z.boolean().describe("You may read the audit log"),
					today: z.string().describe("Today's date in its time zone"),
					records_known_since: z.string().describe("The earliest as_of"),
				}),
			),
			...pageShape,
			closed: z
				.array(
					z.object({
						id: z.string(),
						message: z.string(),
						why: z
							.enum(["SESSION", "PROVIDER", "ENDED"])
							.optional()
							.describe("Sign in again, or with its provider, to reach it"),
						sign_in_ways: z
							.array(z.object({ name: z.string(), path: z.string() }))
							.optional(),
					}),
				)
				.optional()
				.describe("Those that you do not reach now"),
			today: z.string().describe("Today's date in UTC"),
			toolsets: z
				.array(z.string())
				.describe("All toolsets; the address can select some of them"),
		}),
		run: async ({ client, principal }, input) => {
			const memberships = new Map(
				principal.memberships.map((membership) => [
					membership.organizationId,
					membership,
				]),
			);
			const { rows, ...page } = await readPage(
				client,
				{
					tool: "listOrganizations",
					columns: `${COLUMNS}, t.records_known_since, (now() at time zone t.time_zone)::date::text as today`,
					from: `(
					select *, search_text(name, description) as search_text, sort_key(name) as name_key from organizations
				) t`,
					within: { sql: "t.id = any($1)", value: [...memberships.keys()] },
					selected: [principal.userId, input.filter?.query],
					orders,
					filters: {},
				},
				input,
			);
			const closed = [
				...(principal.closed ?? []),
				...(await endedMemberships(client, principal)),
			];
			return {
				organizations: rows.map((row) => {
					const membership = memberships.get(row.id);
					return {
						...row,
						role: membership?.role,
						writable_registers: membership?.writableRegisters ?? null,
						reads_audit_log:
							membership?.role === "admin" ||
							membership?.readsAuditLog === true,
					};
				}) as never,
				...page,
				...(closed.length > 0 && {
					closed: closed.map(({ organizationId, signInWays, ...rest }) => ({
						id: organizationId,
						...rest,
						...(signInWays && { sign_in_ways: [...signInWays] }),
					})),
				}),
				today: new Date().toISOString().slice(0, 10),
				toolsets: [...toolsets()],
			};
		},
	});

export const getOrganization = defineOperation({
	name: "getOrganization",
	title: "Get an organization",
	description: "Read an organization by its id.",
	toolset: "organizations",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ organization }),
	run: async ({ client }, { organization_id }) => {
		const { rows } = await client.query<Organization>({
			name: "get.organization",
			text: `select ${COLUMNS} from organizations t where t.id = $1`,
			values: [organization_id],
		});
		return { organization: rows[0] as Organization };
	},
});

export const updateOrganization = defineOperation({
	name: "updateOrganization",
	title: "Update an organization",
	description:
		"Change the name or description of an organization. Only the given fields change; null clears the description.",
	toolset: "organizations",
	access: "write",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		name: nameSchema().optional().describe("Name of the organization"),
		description: textSchema()
			.nullable()
			.optional()
			.describe("What the organization is and does"),
		...appendShape(["description"]),
		...unchangedShape,
	}),
	output: z.object({ organization }),
	run: (context, { organization_id, ...given }) =>
		change(context, organization_id, given),
});

export const updateOrganizationSettings = defineOperation({
	name: "updateOrganizationSettings",
	title: "Update an organization's settings",
	description:
		"Change an organization's time zone, its first steps to leave out, and how often its devices report. Only the given fields change. A device learns the new intervals with its next heartbeat.",
	toolset: "organizations",
	access: "admin",
	isIdempotent: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		time_zone: timeZoneSchema().optional(),
		heartbeat_interval_seconds: z
			.int()
			.min(HEARTBEAT_SECONDS.min)
			.max(HEARTBEAT_SECONDS.max)
			.optional()
			.describe("Seconds between heartbeats"),
		posture_interval_seconds: z
			.int()
			.min(POSTURE_SECONDS.min)
			.max(POSTURE_SECONDS.max)
			.optional()
			.describe("Seconds between posture reports"),
		skipped_steps: z
			.array(z.enum(FIRST_STEPS))
			.max(FIRST_STEPS.length)
			.refine(...DISTINCT)
			.optional()
			.describe("First steps to leave out; replaces the earlier ones"),
		...unchangedShape,
	}),
	output: z.object({
		organization,
		warnings: z
			.array(z.string())
			.describe("Intervals that are shorter than common agents obey"),
	}),
	run: async (context, { organization_id, ...given }) => {
		const { time_zone: timeZone } = given;
		if (timeZone !== undefined) await requireTimeZone(context.client, timeZone);
		const changed = await change(context, organization_id, given);
		if (timeZone !== undefined) {
			await moveDigests(context.client, organization_id);
		}
		return { ...changed, warnings: intervalWarnings(changed.organization) };
	},
});

/**
 * Maximum number of organizations that a user may administer. Each organization has its own audit
 * log, and a change to the user's account is written to all of them.
 */
export const MAX_ORGANIZATIONS = 100;

export const createOrganization = defineOperation({
	name: "createOrganization",
	title: "Create an organization",
	description: "Create an organization, with you as its admin.",
	toolset: "organizations",
	access: "self",
	surface: "console",
	tenant: null,
	input: z.strictObject({
		name: nameSchema(),
		time_zone: timeZoneSchema().optional(),
	}),
	output: z.object({
		organization: z.object({ id: z.string(), name: z.string() }),
	}),
	run: async (context, { name, time_zone: timeZone }) => {
		const { client, principal, services } = context;
		if (services.organizationCreation === "command-line") {
			throw new AppError(
				"forbidden",
				"permission denied: only the operator of this service creates organizations; ask the operator to run `assay org create`",
			);
		}
		const id = makeOrganizationId();
		const { rows } = await client.query<{ name: string; email: string }>(
			"select name, email from users where id = $1",
			[principal.userId],
		);
		const [caller] = rows;
		if (!caller || !principal.userId) {
			throw new AppError(
				"forbidden",
				"permission denied: only a signed-in user can create an organization; sign in",
			);
		}
		await enforceLimit(client, {
			lock: `organizations ${principal.userId}`,
			from: "memberships where user_id = $1 and role = 'admin'",
			values: [principal.userId],
			max: MAX_ORGANIZATIONS,
			error: tooManyOrganizations,
		});
		// From here on, the transaction acts for the new organization.
		await client.query(setOrganization(id));
		context.changed(
			await insertOrganization(client, id, {
				name,
				timeZone,
				isMadeByUser: true,
			}),
		);
		const user = { id: principal.userId, ...caller };
		context.changed(await addMember(client, id, user, "admin"));
		for (const change of await addPersonOf(client, id, caller)) {
			context.changed(change);
		}
		return { organization: { id, name } };
	},
});

function tooManyOrganizations(): AppError {
	return new AppError(
		"bad_request",
		`you are an administrator of ${MAX_ORGANIZATIONS} organizations, which is the maximum; ask the operator of the service to run \`assay org create\``,
	);
}

async function change(
	{ client, changed }: Context,
	id: string,
	{
		if_updated_at,
		append,
		...fields
	}: Values & { if_updated_at?: string | undefined },
): Promise<{ organization: Organization }> {
	const { rows } = await client.query<Organization>(
		// A lock with "for update" would also block new foreign keys to the organization. Adding a
		// record or an audit entry would then have to wait while this transaction waits for the audit
		// log.
		`select ${COLUMNS} from organizations t where t.id = $1 for no key update`,
		[id],
	);
	// `invoke` has read the membership, so the row exists.
	const before: Organization & Values = rows[0] as Organization;
	requireUnchanged("organization", before, if_updated_at);
	const given: Values = {
		...fields,
		...appendedTexts("organization", before, fields, append),
	};
	const different = Object.keys(given).filter(
		(name) =>
			given[name] !== undefined &&
			!isDeepStrictEqual(given[name], before[name]),
	);
	if (different.length === 0) return { organization: before };
	const assignments = different.map((name, index) => `${name} = $${index + 2}`);
	const { rows: updated } = await client.query<Organization>(
		`update organizations t set ${assignments.join(", ")}, updated_at = now() where t.id = $1 returning ${COLUMNS}`,
		[id, ...different.map((name) => given[name])],
	);
	const after: Organization & Values = updated[0] as Organization;
	changed({
		kind: "organization",
		id,
		name: after.name,
		fields: Object.fromEntries(
			different.map((name) => [
				name,
				{ before: before[name], after: after[name] },
			]),
		),
	});
	return { organization: after };
}

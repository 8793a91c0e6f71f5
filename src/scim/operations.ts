import { z } from "zod";
import { rejectAtLimit } from "../db/enforce-limit.ts";
import { AppError } from "../errors.ts";
import { makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { ROLES, type Role } from "../principal.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema, nameSchema } from "../records/text-schemas.ts";
import { requireFreshProof } from "../sign-in/fresh-proof.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import { lockProvisioning } from "./client.ts";
import { changeRoles, KeptMember } from "./memberships.ts";
import { readRequests } from "./request-log.ts";

/** Most credentials of an organization that work at the same time. */
const MAX_CREDENTIALS = 5;
const DEFAULT_DAYS = 365;
const MAX_DAYS = 1095;

const admin = {
	toolset: "members",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

const role = z.enum(ROLES);

const credential = z.object({
	id: z.string(),
	name: z.string(),
	status: z.enum(["ACTIVE", "EXPIRED", "REVOKED"]),
	created_by: z.string(),
	created_at: z.string(),
	expires_at: z.string(),
	last_used_at: z.string().nullable(),
	last_used_address: z.string().nullable(),
});
type Credential = z.output<typeof credential>;

const group = z.object({
	id: z.string(),
	display_name: z.string(),
	members: z.int(),
	role: role.nullable(),
});

const CREDENTIAL = `id, name, created_by, created_at, expires_at, last_used_at, last_used_address,
	case when revoked_at is not null then 'REVOKED' when expires_at <= now() then 'EXPIRED'
		else 'ACTIVE' end as status`;

export const getProvisioning = defineOperation({
	...admin,
	name: "getProvisioning",
	title: "Show provisioning by SCIM",
	description:
		"Show the address of the SCIM service, its credentials, the provisioned groups with the roles that they give, and the last changes and rejected requests.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({
		address: z.string(),
		default_role: role,
		users: z.int().describe("Provisioned people who are active"),
		credentials: z.array(credential),
		groups: z.array(group),
		requests: z.array(
			z.object({
				id: z.string(),
				at: z.string(),
				credential: z.string().nullable(),
				method: z.string(),
				path: z.string(),
				status: z.int(),
				detail: z.string().nullable(),
			}),
		),
	}),
	run: async ({ client, membership, services }) => {
		const id = membership.organizationId;
		const credentials = await client.query<Credential>(
			`select ${CREDENTIAL} from scim_credentials
			where organization_id = $1 order by created_at desc, id limit 50`,
			[id],
		);
		const groups = await client.query<z.output<typeof group>>(
			`select g.id, g.display_name, g.role, (
				select count(*)::integer from scim_group_members m
				where m.organization_id = g.organization_id and m.group_id = g.id
			) as members
			from scim_groups g where g.organization_id = $1 order by g.display_name_key`,
			[id],
		);
		const about = await client.query<{ default_role: Role; users: number }>(
			`select o.provisioned_role as default_role, (
				select count(*)::integer from scim_users u
				where u.organization_id = o.id and u.is_active
			) as users
			from organizations o where o.id = $1`,
			[id],
		);
		const names = new Map(credentials.rows.map((one) => [one.id, one.name]));
		const requests = await readRequests(client, id);
		return {
			address: `${services.baseUrl}/scim/v2`,
			default_role: about.rows[0]?.default_role ?? "viewer",
			users: about.rows[0]?.users ?? 0,
			credentials: credentials.rows,
			groups: groups.rows,
			requests: requests.map(({ credential_id, ...request }) => ({
				...request,
				credential: names.get(credential_id) ?? null,
			})),
		};
	},
});

export const createScimCredential = defineOperation({
	...admin,
	name: "createScimCredential",
	title: "Create a SCIM credential",
	description:
		"Create the credential with which an identity provider provisions the members of the organization. Returns the secret, once.",
	input: z.strictObject({
		organization_id: organizationId(),
		name: nameSchema(200).describe("Name of the identity provider"),
		expires_in_days: z.int().min(1).max(MAX_DAYS).default(DEFAULT_DAYS),
	}),
	output: z.object({ credential, secret: z.string() }),
	run: async (context, { name, expires_in_days }) => {
		await requireFreshProof(context);
		const { client, membership, principal } = context;
		const { organizationId } = membership;
		await lockProvisioning(client, organizationId);
		await rejectAtLimit(client, {
			from: "scim_credentials where organization_id = $1 and revoked_at is null and expires_at > now()",
			values: [organizationId],
			max: MAX_CREDENTIALS,
			error: () =>
				new AppError(
					"bad_request",
					`an organization has at most ${MAX_CREDENTIALS} SCIM credentials; revoke one that you do not use`,
				),
		});
		const secret = makeSecret("scim");
		const { rows } = await client.query<Credential>(
			`insert into scim_credentials (organization_id, id, name, secret_hash, created_by, expires_at)
			values ($1, $2, $3, decode($4, 'hex'), $5, now() + $6 * interval '1 day')
			returning ${CREDENTIAL}`,
			[
				organizationId,
				makeId(organizationId, "scim_credential"),
				name,
				hashSecret(secret),
				principal.name,
				expires_in_days,
			],
		);
		const made = rows[0] as Credential;
		context.changed({
			kind: "scim_credential",
			id: made.id,
			name,
			fields: { name: { after: name }, expires_at: { after: made.expires_at } },
		});
		return { credential: made, secret };
	},
});

export const revokeScimCredential = defineOperation({
	...admin,
	name: "revokeScimCredential",
	title: "Revoke a SCIM credential",
	description:
		"Revoke a SCIM credential. The next request with it is rejected. Members stay.",
	isDestructive: true,
	isIdempotent: true,
	input: z.strictObject({
		organization_id: organizationId(),
		id: idSchema("scim_credential").describe("Id of the credential"),
	}),
	output: z.object({ credential }),
	run: async (context, { id }) => {
		const { client, membership } = context;
		const { rows: revoked } = await client.query(
			`update scim_credentials set revoked_at = now()
			where organization_id = $1 and id = $2 and revoked_at is null returning id`,
			[membership.organizationId, id],
		);
		const { rows } = await client.query<Credential>(
			`select ${CREDENTIAL} from scim_credentials where organization_id = $1 and id = $2`,
			[membership.organizationId, id],
		);
		const [found] = rows;
		if (!found) throw notFound(id);
		if (revoked.length > 0) {
			context.changed({
				kind: "scim_credential",
				id,
				name: found.name,
				fields: { status: { before: "ACTIVE", after: "REVOKED" } },
			});
		}
		return { credential: found };
	},
});

export const updateProvisioning = defineOperation({
	...admin,
	name: "updateProvisioning",
	title: "Change the role of provisioned people",
	description:
		"Set the role of provisioned people without a group that gives another one. It counts for those who come later, and for those whose groups change.",
	isIdempotent: true,
	input: z.strictObject({
		organization_id: organizationId(),
		default_role: role,
	}),
	output: z.object({ default_role: role }),
	run: async (context, { default_role }) => {
		await requireFreshProof(context);
		const { client, membership } = context;
		const id = membership.organizationId;
		const { rows } = await client.query<{ name: string; before: Role }>(
			"select name, provisioned_role as before from organizations where id = $1 for update",
			[id],
		);
		const [organization] = rows;
		if (organization && organization.before !== default_role) {
			await client.query(
				"update organizations set provisioned_role = $2, updated_at = now() where id = $1",
				[id, default_role],
			);
			context.changed({
				kind: "organization",
				id,
				name: organization.name,
				fields: {
					provisioned_role: {
						before: organization.before,
						after: default_role,
					},
				},
			});
		}
		return { default_role };
	},
});

export const updateScimGroup = defineOperation({
	...admin,
	name: "updateScimGroup",
	title: "Set the role that a group gives",
	description:
		"Set which role the members of a provisioned group have. The highest role of a person's groups counts. Null: the group gives no role. It takes effect at once.",
	isIdempotent: true,
	input: z.strictObject({
		organization_id: organizationId(),
		id: idSchema("scim_group").describe("Id of the group"),
		role: role.nullable(),
	}),
	output: z.object({ group }),
	run: async (context, { id, role }) => {
		await requireFreshProof(context);
		const { client, membership } = context;
		const { organizationId } = membership;
		await lockProvisioning(client, organizationId);
		const { rows } = await client.query<{
			display_name: string;
			role: Role | null;
		}>(
			`select display_name, role from scim_groups
			where organization_id = $1 and id = $2 for update`,
			[organizationId, id],
		);
		const [before] = rows;
		if (!before) throw notFound(id);
		const { rows: members } = await client.query<{ user_id: string }>(
			"select user_id from scim_group_members where organization_id = $1 and group_id = $2",
			[organizationId, id],
		);
		if (before.role !== role) {
			await client.query(
				"update scim_groups set role = $3, updated_at = now() where organization_id = $1 and id = $2",
				[organizationId, id, role],
			);
			context.changed({
				kind: "scim_group",
				id,
				name: before.display_name,
				fields: { role: { before: before.role, after: role } },
			});
			await changeMembers(
				context,
				members.map(({ user_id }) => user_id),
			);
		}
		return {
			group: {
				id,
				display_name: before.display_name,
				members: members.length,
				role,
			},
		};
	},
});

async function changeMembers(
	{ client, membership, changed }: Context,
	userIds: string[],
): Promise<void> {
	try {
		const changes = await changeRoles(
			client,
			membership.organizationId,
			userIds,
			"updateProvisionedGroup",
		);
		for (const change of changes) changed(change);
	} catch (error) {
		if (!(error instanceof KeptMember)) throw error;
		throw new AppError("bad_request", error.message);
	}
}

export const provisioningOperations = [
	getProvisioning,
	createScimCredential,
	revokeScimCredential,
	updateProvisioning,
	updateScimGroup,
] as const;

import { withTenant } from "../../src/db/pool.ts";
import { makeId } from "../../src/id.ts";
import { verifyByOperator } from "../../src/organizations/domains/operator-domains.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { hashSecret, makeSecret } from "../../src/tokens/secret.ts";
import type { TestDatabase } from "../support/database.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { type Json, startTools, type TestTools } from "../support/tools.ts";

export const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
export const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

export interface ScimAnswer {
	status: number;
	body: Json;
	headers: Headers;
}

/** Sends a request as the SCIM client of an organization. */
export type Send = (
	method: string,
	path: string,
	body?: unknown,
	headers?: Record<string, string>,
) => Promise<ScimAnswer>;

export interface ScimStand extends TestTools {
	secret: string;
	otherSecret: string;
	scim: Send;
	/** The same as the client of the other organization. */
	otherScim: Send;
	/** Sends PATCH with these operations. */
	patch: (path: string, ...operations: object[]) => Promise<ScimAnswer>;
	/** Provisions a user and returns the resource. */
	provision: (userName: string, more?: object) => Promise<Json>;
	makeGroup: (displayName: string, ids?: string[]) => Promise<Json>;
	/** The role of a user in the organization. Undefined: no member. */
	roleOf: (userId: string) => Promise<string | undefined>;
	/** The log of the service. */
	log: ReadableLog;
	/** What the audit log says, newest first. */
	audited: () => Promise<Json[]>;
}

/**
 * Starts the service with two organizations, each with a SCIM credential. The first has the domain
 * example.com, and the second has other.example.
 */
export async function startScim(): Promise<ScimStand> {
	const log = new ReadableLog();
	const tools = await startTools(undefined, undefined, log.logger);
	const { database, organizationId, otherOrganizationId, url } = tools;
	const secret = await makeCredential(database, organizationId);
	const otherSecret = await makeCredential(database, otherOrganizationId);
	await verify(database, organizationId, "example.com");
	await verify(database, otherOrganizationId, "other.example");
	const scim = sender(url, secret);
	return {
		...tools,
		log,
		secret,
		otherSecret,
		scim,
		otherScim: sender(url, otherSecret),
		patch: (path, ...operations) =>
			scim("PATCH", path, { schemas: [PATCH], Operations: operations }),
		provision: async (userName, more = {}) => {
			const answer = await scim("POST", "Users", {
				schemas: [USER],
				userName,
				...more,
			});
			if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
			return answer.body;
		},
		makeGroup: async (displayName, ids = []) => {
			const answer = await scim("POST", "Groups", {
				schemas: [GROUP],
				displayName,
				members: ids.map((value) => ({ value })),
			});
			if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
			return answer.body;
		},
		roleOf: async (userId) => {
			const { rows } = await database.owner.query(
				"select role from memberships where organization_id = $1 and user_id = $2",
				[organizationId, userId],
			);
			return rows[0]?.role;
		},
		audited: async () => {
			const { audit_entries } = await tools.use("listAuditLog", {
				organization_id: organizationId,
			});
			return audit_entries;
		},
	};
}

export function verify(
	{ pool }: TestDatabase,
	organizationId: string,
	domain: string,
) {
	return withTenant(pool, organizationId, (client) =>
		verifyByOperator(client, systemPrincipal(), organizationId, domain),
	);
}

/** Stores a credential and returns its secret. */
export async function makeCredential(
	{ owner }: TestDatabase,
	organizationId: string,
	expires = "1 day",
): Promise<string> {
	const secret = makeSecret("scim");
	await owner.query(
		`insert into scim_credentials (organization_id, id, name, secret_hash, created_by, expires_at)
		values ($1, $2, 'Entra ID', decode($3, 'hex'), 'test', now() + $4::interval)`,
		[
			organizationId,
			makeId(organizationId, "scim_credential"),
			hashSecret(secret),
			expires,
		],
	);
	return secret;
}

export function sender(url: string, secret: string): Send {
	return async (method, path, body, headers = {}) => {
		const response = await fetch(`${url}/scim/v2/${path}`, {
			method,
			headers: {
				...(secret && { authorization: `Bearer ${secret}` }),
				...(body !== undefined && { "content-type": "application/scim+json" }),
				...headers,
			},
			...(body !== undefined && {
				body: typeof body === "string" ? body : JSON.stringify(body),
			}),
		});
		const text = await response.text();
		return {
			status: response.status,
			body: text ? JSON.parse(text) : undefined,
			headers: response.headers,
		};
	};
}

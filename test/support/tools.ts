import type { Pool } from "pg";
import type { Logger } from "pino";
import { makeIdWithoutTenant } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Role } from "../../src/principal.ts";
import { hashSecret, makeSecret } from "../../src/tokens/secret.ts";
import { quickRequest } from "./quick-request.ts";
import { shareService, startService, type TestService } from "./service.ts";

/** The answer of a tool as plain JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each test knows the form of its answer.
export type Json = any;

export interface TestUser {
	id: string;
	/** An API token of the user. */
	token: string;
	tokenId: string;
}

export interface ToolAnswer {
	status: number;
	body: Json;
	headers: Headers;
}

export interface TestTools extends TestService {
	/** The address of the service. */
	url: string;
	admin: TestUser;
	member: TestUser;
	viewer: TestUser;
	/** An administrator of another organization. */
	stranger: TestUser;
	otherOrganizationId: string;
	/** Calls a tool over plain HTTP, as the administrator by default. */
	call: (
		tool: string,
		input?: unknown,
		token?: string | undefined,
	) => Promise<ToolAnswer>;
	/** Returns the output of a call that must succeed. */
	use: (tool: string, input?: unknown, token?: string) => Promise<Json>;
	/** Sends a JSON-RPC body to the MCP endpoint with POST. */
	rpc: (
		body: unknown,
		options?: {
			token?: string;
			query?: string;
			headers?: Record<string, string>;
		},
	) => Promise<ToolAnswer>;
	/** Creates a user who has a role in each of these organizations, with an API token. */
	makeUser: (roles: Record<string, Role>) => Promise<TestUser>;
}

/** Starts the whole service with an organization, a user of each role, and their API tokens. */
export async function startTools(
	reach?: (databaseUrl: string) => Promise<string>,
	settings?: Record<string, string>,
	log?: Logger,
): Promise<TestTools> {
	return withUsers(await startService(reach, settings, undefined, log));
}

/** Returns the same for the shared service, under the conditions of `shareService`. */
export async function shareTools(): Promise<TestTools> {
	return withUsers(await shareService());
}

async function withUsers(running: TestService): Promise<TestTools> {
	const { database, organizationId, service } = running;
	const otherOrganizationId = await createOrganization(database.owner, "Other");
	const makeUser: TestTools["makeUser"] = (roles) =>
		insertUser(database.owner, roles);
	const viewer = await makeUser({ [organizationId]: "viewer" });
	const member = await makeUser({ [organizationId]: "member" });
	const admin = await makeUser({ [organizationId]: "admin" });
	const stranger = await makeUser({ [otherOrganizationId]: "admin" });

	const post = async (
		path: string,
		body: unknown,
		token: string,
		headers: Record<string, string> = {},
	): Promise<ToolAnswer> => {
		const response = await quickRequest(service.url + path, {
			method: "POST",
			body: typeof body === "string" ? body : JSON.stringify(body),
			headers: {
				"content-type": "application/json",
				...(token ? { authorization: `Bearer ${token}` } : {}),
				...headers,
			},
		});
		const text = await response.text();
		return {
			status: response.status,
			body: text === "" ? undefined : JSON.parse(text),
			headers: response.headers,
		};
	};

	const call: TestTools["call"] = (tool, input = {}, token = admin.token) =>
		post(`/api/mcp/tools/${tool}`, input, token);

	return {
		...running,
		url: service.url,
		admin,
		member,
		viewer,
		stranger,
		otherOrganizationId,
		makeUser,
		call,
		use: async (tool, input, token) => {
			const { status, body } = await call(tool, input, token);
			if (status !== 200) {
				throw new Error(`${tool}: ${status} ${JSON.stringify(body)}`);
			}
			return body;
		},
		rpc: (body, { token = admin.token, query = "", headers } = {}) =>
			post(`/api/mcp/v1${query}`, body, token, headers),
	};
}

let users = 0;

async function insertUser(
	owner: Pool,
	roles: Record<string, Role>,
): Promise<TestUser> {
	const id = makeIdWithoutTenant("user");
	const name = `user ${++users}`;
	const token = makeSecret("pat");
	const tokenId = makeIdWithoutTenant("api_token");
	await owner.query(
		`with user_row as (
			insert into users (id, name, email) values ($1, $2, $3)
		), memberships as (
			insert into memberships (organization_id, user_id, role)
			select organization_id, $1, role from unnest($4::text[], $5::text[]) m (organization_id, role)
		)
		insert into api_tokens (id, user_id, name, token_hash) values ($6, $1, $7, $8)`,
		[
			id,
			name,
			`user-${users}-${process.pid}@example.com`,
			Object.keys(roles),
			Object.values(roles),
			tokenId,
			`token of ${name}`,
			`\\x${hashSecret(token)}`,
		],
	);
	return { id, token, tokenId };
}

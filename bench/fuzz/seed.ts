import { makePool, withTenant } from "../../src/db/pool.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { ROLES, type Role } from "../../src/principal.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { addMember, createUser } from "../../src/sign-in/users.ts";
import type { Stand } from "../faults/stand.ts";
import { insertToken } from "../mcp-seed.ts";
import type { Spare, Target } from "./target.ts";

const PASSWORD = "correct horse battery";
const SPARES = 16;
const DEVICES_KNOWN = 20;

/**
 * Makes a target for each organization of the stand's fleet. Operations on devices then find
 * devices of the target's organization. With only one organization, all cases would have to wait
 * for its audit log.
 */
export async function makeTargets(stand: Stand): Promise<Target[]> {
	const { fleet } = stand;
	const people = await openPeople(stand);
	const spare = await makeSpare(stand, people);
	const targets: Target[] = [];
	for (const [number, organizationId] of fleet.organizations.entries()) {
		const mine = (all: string[]) =>
			all.filter((_, i) => i % fleet.organizations.length === number);
		const email = `ada-${number}@example.com`;
		const { cookie } = await people.join(organizationId, email, "admin");
		const tokens = await makeTokens(stand, organizationId);
		const records = await addRecords(people.url, organizationId, tokens[0]);
		targets.push({
			url: people.url,
			organizationId,
			ids: [...mine(fleet.ids).slice(0, DEVICES_KNOWN), ...records],
			keys: mine(fleet.keys),
			tokens,
			cookie,
			spare,
		});
	}
	await people.close();
	return targets;
}

/** Adds a record of each kind, so that references have a record to name. Returns the ids. */
async function addRecords(
	url: string,
	organization_id: string,
	token: string | undefined,
): Promise<string[]> {
	const ids: string[] = [];
	const add = async (tool: string, input: object): Promise<string> => {
		const response = await fetch(`${url}/api/mcp/tools/${tool}`, {
			method: "POST",
			headers: { authorization: `Bearer ${token}` },
			body: JSON.stringify({ organization_id, ...input }),
		});
		const text = await response.text();
		const id = /"id":"([\w-]{32})"/.exec(text)?.[1];
		if (response.status !== 200 || !id) throw new Error(`${tool}: ${text}`);
		ids.push(id);
		return id;
	};
	const name = "There is one";
	await add("addPeople", {
		full_name: name,
		primary_email_address: "one@example.com",
		kind: "EMPLOYEE",
	});
	const framework_id = await add("addFramework", { name });
	await add("addControl", { framework_id, section_title: "1", name });
	await add("addAudit", { framework_id, name });
	await add("addRisk", {
		name,
		category: "theft",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 3,
	});
	await add("addMeasure", { name, category: "access" });
	await add("addAsset", { name, amount: 1, asset_type: "PHYSICAL" });
	await add("addDatum", { name, data_classification: "SECRET" });
	await add("addObligation", { requirement: name });
	await add("addNonconformity", { description: name });
	await add("addContinualImprovement", { description: name });
	await add("addVendor", { name });
	await add("addTask", { name });
	return ids;
}

type People = Awaited<ReturnType<typeof openPeople>>;

async function makeSpare(stand: Stand, people: People): Promise<Spare> {
	const organizationId = makeOrganizationId();
	await stand.asOwner((client) =>
		client.query("insert into organizations (id, name) values ($1, 'Spare')", [
			organizationId,
		]),
	);
	const users: Awaited<ReturnType<People["join"]>>[] = [];
	// The users join one after the other, because hashing all their passwords at the same time would
	// overload a busy machine.
	for (let i = 0; i < SPARES; i++) {
		const email = `spare-${i}@example.com`;
		users.push(await people.join(organizationId, email, "admin"));
	}
	return {
		organizationId,
		ids: users.map(({ id }) => id),
		tokens: await makeTokens(stand, organizationId),
		cookies: users.map(({ cookie }) => cookie),
	};
}

/** Makes API tokens. The first one belongs to an administrator, and the last one to a viewer. */
function makeTokens(stand: Stand, organizationId: string): Promise<string[]> {
	return stand.asOwner(async (client) => {
		const tokens: string[] = [];
		for (const role of ROLES.toReversed()) {
			tokens.push(await insertToken(client, organizationId, role));
		}
		return tokens;
	});
}

/** Makes users who are signed in at the console. */
export async function openPeople({ postgres, service }: Stand) {
	const url = `http://127.0.0.1:${service.port}`;
	const pool = makePool({ connectionString: postgres.url }, { max: 1 });
	const passwordHash = await hashPassword(PASSWORD);
	const join = async (organizationId: string, email: string, role: Role) => {
		const name = "Ada";
		const id = await withTenant(pool, organizationId, async (client) => {
			const made = await createUser(client, { email, name, passwordHash });
			const user = { id: made.userId, name, email };
			await addMember(client, organizationId, user, role);
			return user.id;
		});
		return { id, cookie: await signIn(url, email) };
	};
	return { url, join, close: () => pool.end() };
}

async function signIn(url: string, email: string): Promise<string> {
	const response = await fetch(`${url}/api/auth/sign-in/email`, {
		method: "POST",
		headers: { "content-type": "application/json", origin: url },
		body: JSON.stringify({ email, password: PASSWORD }),
	});
	const cookie = response.headers
		.getSetCookie()
		.map((text) => text.split(";", 1)[0])
		.join("; ");
	if (!cookie) throw new Error(`no session: ${await response.text()}`);
	return cookie;
}

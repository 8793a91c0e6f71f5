import { AppError } from "../../src/errors.ts";
import { makeIdWithoutTenant } from "../../src/id.ts";
import { invoke, type Services } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import { findOperation } from "../../src/operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Principal, Role } from "../../src/principal.ts";
import {
	createDatabase,
	shareDatabase,
	type TestDatabase,
} from "./database.ts";

// biome-ignore lint/suspicious/noExplicitAny: the type of a result depends on the name of the call.
type Result = any;

export interface Calls {
	database: TestDatabase;
	organizationId: string;
	services: Services;
	/** Calls an operation as `by`, who is an administrator of the organization by default. */
	call: (name: string, input?: object, by?: Principal) => Promise<Result>;
	/** Returns the error of a call that must be rejected. */
	refusal: (
		name: string,
		input?: object,
		by?: Principal,
	) => Promise<{ code: string; message: string; fields: string[] }>;
	principal: (role: Role, organizationId?: string) => Principal;
	close: () => Promise<void>;
}

/**
 * Makes a new database with one organization. Tests call operations on it by name, without a door.
 */
export async function makeCalls(): Promise<Calls> {
	const database = await createDatabase();
	return callsOn(database, () => database.drop());
}

/** Makes an organization in the shared database, under the conditions of `shareDatabase`. */
export async function shareCalls(): Promise<Calls> {
	return callsOn(await shareDatabase(), async () => {});
}

async function callsOn(
	database: TestDatabase,
	close: () => Promise<void>,
): Promise<Calls> {
	const organizationId = await createOrganization(database.pool, "Acme");
	// The operations that are called here do not use the parts that only sign-in needs, so these are
	// missing.
	const services = {
		pool: database.pool,
		log: makeLogger("silent"),
		baseUrl: "http://localhost:8080",
		secret: "a secret of at least thirty-two characters",
	} as Services;
	const principal = (role: Role, organization = organizationId): Principal => ({
		kind: "USER",
		userId: makeIdWithoutTenant("user"),
		name: `the ${role}`,
		memberships: [{ organizationId: organization, role }],
	});
	const admin = principal("admin");
	const call: Calls["call"] = (name, input = {}, by = admin) => {
		const operation = findOperation(name);
		if (!operation) throw new Error(`there is no operation ${name}`);
		return invoke(services, by, operation, input);
	};
	return {
		database,
		organizationId,
		services,
		call,
		refusal: async (name, input, by) => {
			const answer = await call(name, input, by).catch((error) => error);
			if (!(answer instanceof AppError)) {
				throw new Error(`${name} was not refused: ${JSON.stringify(answer)}`, {
					cause: answer,
				});
			}
			return {
				code: answer.code,
				message: answer.message,
				fields: (answer.fields ?? []).map(({ field }) => field),
			};
		},
		principal,
		close,
	};
}

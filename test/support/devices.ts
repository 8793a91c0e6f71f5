import type { z } from "zod";
import { makeId } from "../../src/id.ts";
import { invoke, type Services } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import type { Operation } from "../../src/operation.ts";
import type { Principal, Role } from "../../src/principal.ts";
import {
	postureResult,
	shareService,
	startService,
	type TestDevice,
	type TestService,
} from "./service.ts";

export interface TestFleet {
	assay: TestService;
	services: Services;
	/** Calls an operation as a user with this role, which is admin by default. */
	call: <Input extends z.ZodObject, Output extends z.ZodObject>(
		operation: Operation<string, Input, Output>,
		input: z.input<Input>,
		options?: { role?: Role; organizationId?: string; services?: Services },
	) => Promise<z.output<Output>>;
	/** Inserts ACTIVE devices that have just reported. Returns their ids. */
	seed: (names: string[], organizationId?: string) => Promise<string[]>;
	/** Sends a report of the device. Each result is valid unless the given fields make it invalid. */
	report: (
		device: TestDevice,
		...results: Record<string, unknown>[]
	) => Promise<void>;
	/** Returns the device's entries in the audit log, oldest first. */
	audited: (deviceId: string) => Promise<AuditedChange[]>;
}

export interface AuditedChange {
	actor_kind: string;
	actor_id: string | null;
	actor_name: string;
	operation: string;
	record_name: string | null;
	address: string | null;
	changes: Record<string, { before?: unknown; after?: unknown }>;
}

/** Starts a service with an organization and calls its device operations as every door does. */
export async function startFleet(
	settings: Record<string, string> = {},
): Promise<TestFleet> {
	return withOperations(await startService(undefined, settings));
}

/** Returns the same for the shared service, under the conditions of `shareService`. */
export async function shareFleet(): Promise<TestFleet> {
	return withOperations(await shareService());
}

/** Adds the functions that call operations to a service. */
export function withOperations(assay: TestService): TestFleet {
	const services = {
		pool: assay.database.pool,
		log: makeLogger("silent"),
		baseUrl: "http://localhost:8080",
	};
	return {
		assay,
		services,
		call: (operation, input, options = {}) =>
			invoke(
				options.services ?? services,
				principalOf(
					options.role ?? "admin",
					options.organizationId ?? assay.organizationId,
				),
				operation,
				input,
			),
		seed: async (names, organizationId = assay.organizationId) => {
			const ids = names.map(() => makeId(organizationId, "device"));
			await assay.database.owner.query(
				`insert into devices (
					organization_id, id, name, status, hardware_uuid, hardware_hash, platform, hostname, hostname_key,
					activated_at, last_seen_at, search_text
				)
				select
					$1, d.id, d.name, 'ACTIVE', d.id, sha256(convert_to(d.id, 'UTF8')), 'LINUX', d.name || '.local',
					sort_key(d.name || '.local'), now(), now(), search_text(d.name, d.name || '.local')
				from unnest($2::text[], $3::text[]) d (id, name)`,
				[organizationId, ids, names],
			);
			return ids;
		},
		report: async (device, ...results) => {
			const body = { results: results.map((one) => postureResult(one)) };
			const answer = await assay.post("postures", body, { key: device.key });
			if (answer.status !== 204) throw new Error(await answer.text());
		},
		audited: async (deviceId) => {
			const { rows } = await assay.database.owner.query<AuditedChange>(
				`select actor_kind, actor_id, actor_name, operation, record_name, address, changes
				from audit_entries where record_id = $1 order by id`,
				[deviceId],
			);
			return rows;
		},
	};
}

/** Returns a user who has this role in the organization. */
export function principalOf(role: Role, organizationId: string): Principal {
	return {
		kind: "USER",
		userId: "u".repeat(32),
		name: "Ada",
		memberships: [{ organizationId, role }],
	};
}

import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Releases } from "./agent-packages/release.ts";
import { changeStatements } from "./audit/log.ts";
import { noteRejectedCall } from "./audit/rejected-calls.ts";
import type { OrganizationCreation } from "./config/settings.ts";
import { applicationName } from "./db/application-name.ts";
import { retriedTransaction } from "./db/pool.ts";
import type { ReadReplica, ReplicaReads } from "./db/read-replica.ts";
import { AppError, badFields } from "./errors.ts";
import { eventStatements, type NewEvent } from "./events/add-events.ts";
import type { FileLimits } from "./files/file-limits.ts";
import { kindNoun, parseId } from "./id.ts";
import { FairShares } from "./load/fair-shares.ts";
import type { Mailer } from "./mail/mailer.ts";
import {
	type AnyOperation,
	type Change,
	type Context,
	idOfCall,
	NEEDED_ROLE,
	type Operation,
} from "./operation.ts";
import { rejectEnded } from "./organizations/ended-memberships.ts";
import {
	mayAsAuditor,
	outOfRegisters,
} from "./organizations/narrow-membership.ts";
import {
	namedTenant,
	rejectClosed,
	requireOrganization,
	withOrganization,
} from "./organizations/organization-of-call.ts";
import type { OutgoingRule } from "./outgoing/outgoing-address.ts";
import { type Membership, type Principal, roleReaches } from "./principal.ts";
import { answerOnce, type KeyedCall } from "./records/idempotency.ts";
import { outOfConfinement } from "./sign-in/confined-session.ts";
import type { PasswordRule } from "./sign-in/password-sign-in.ts";
import { outOfScope } from "./tokens/scopes.ts";
import { operationWork } from "./tracing/channels.ts";
import { parseInput } from "./validation.ts";

/**
 * Leaves two of the pool's eight connections to other organizations while the changes of one
 * organization wait for a lock, for example on a record that a long import changes.
 */
const changesOfOrganizations = new FairShares({
	running: 6,
	waiting: 250,
	name: "changes in this organization",
});

/** Everything that operations need besides their database transaction. */
export interface Services {
	pool: Pool;
	/** The replica. Undefined if the operator has named none. */
	replica?: ReadReplica | undefined;
	/** Set for a request whose data comes from the replica. Rights still come from `pool`. */
	replicaReads?: ReplicaReads;
	log: Logger;
	/** The address that agents and people use (ASSAY_BASE_URL). */
	baseUrl: string;
	/** Says who may create organizations. If absent, every signed-in user may. */
	organizationCreation?: OrganizationCreation;
	/** Sends queued mails. Undefined if the service sends no mail. */
	mail?: Mailer | undefined;
	/** The secret of the service. Undefined for commands. */
	secret?: string;
	/** Returns the newest versions of Assay's agent that the service offers. Undefined for commands. */
	newestAgents?: () => Releases;
	/** Says that a delivery to a webhook was queued. Call it after the commit. */
	wakeDeliverer?: () => void;
	/** The addresses that webhooks and chats may have. Undefined for commands. */
	outgoingRule?: OutgoingRule;
	/** Says that a message to a chat was queued. Call it after the commit. */
	wakeChatSender?: () => void;
	/** Says that an organization was closed. Call it after the commit. */
	wakeClosed?: () => void;
	/** Says that a look for the record of a domain was requested. Call it after the commit. */
	wakeDomainChecks?: () => void;
	/** True if users may connect programs with OAuth. */
	hasOauth?: boolean;
	/** Who may sign in with a password, and the installation's identity provider. */
	passwordRule?: PasswordRule;
	/** Months after which raw posture reports are deleted. 0 or undefined keeps them forever. */
	reportRetentionMonths?: number;
	/** Limits of uploaded files. If absent, the defaults apply. */
	fileLimits?: FileLimits;
}

/**
 * Runs an operation for a caller. Every door runs its operations through this function. It checks
 * the caller's permission, parses the input, and runs the operation in one transaction that sees
 * only one organization. The same transaction writes the audit log, so a call that fails leaves
 * nothing behind.
 *
 * `requestId` becomes a part of the transaction's name in the database. An administrator who sees
 * the transaction there can find the request.
 *
 * Throws an AppError: forbidden (the role is too low, or the caller does not belong to the
 * organization), bad_request (names the fields), not_found or service_unavailable.
 */
export function invoke<Input extends z.ZodObject, Output extends z.ZodObject>(
	services: Services,
	principal: Principal,
	operation: Operation<string, Input, Output>,
	rawInput: unknown,
	requestId = "",
): Promise<z.output<Output>> {
	const name = applicationName(requestId, operation.name);
	const perform = () =>
		authorizeAndRun(services, principal, operation, rawInput, name);
	return operationWork.hasSubscribers
		? operationWork.tracePromise(perform, { name: operation.name })
		: perform();
}

/**
 * Returns the changes that a call would make, and makes none, because its transaction is rolled back.
 * Throws the errors of the call. It is meant for operations that do nothing outside the database.
 */
export async function changesOfCall(
	services: Services,
	principal: Principal,
	operation: AnyOperation,
	rawInput: unknown,
	requestId: string,
): Promise<readonly Change[]> {
	const name = applicationName(requestId, operation.name);
	try {
		await authorizeAndRun(services, principal, operation, rawInput, name, true);
	} catch (thrown) {
		if (thrown instanceof Undone) return thrown.changes;
		throw thrown;
	}
	throw new Error("a call that must not be committed was");
}

/** Thrown at the end of a transaction that must not be committed. */
class Undone extends Error {
	readonly changes: readonly Change[];

	constructor(changes: readonly Change[]) {
		super("the changes are rolled back");
		this.changes = changes;
	}
}

async function authorizeAndRun<
	Input extends z.ZodObject,
	Output extends z.ZodObject,
>(
	services: Services,
	principal: Principal,
	operation: Operation<string, Input, Output>,
	rawInput: unknown,
	name: string,
	isUndone = false,
): Promise<z.output<Output>> {
	if (services.replicaReads) requireReadOfRecords(operation);
	const membership = await authorize(services, principal, operation, rawInput);
	const given = withOrganization(operation, rawInput ?? {}, membership);
	const input = parseInput(
		operation.input,
		operation.isReadOnly ? withoutNulls(given) : given,
	);
	if (operation.tenant !== null && !membership) {
		requireOrganization(operation, input);
		// The id is well-formed, but it belongs to an organization in which the caller is not a member.
		throw notFound(
			String((input as Record<string, unknown>)[operation.tenant]),
		);
	}
	const organizationId = membership?.organizationId ?? "";
	const scope = {
		organizationId: membership?.organizationId,
		userId: principal.userId,
		isReadOnly: operation.isReadOnly,
		name,
		lastStatements: () => [
			...eventStatements(organizationId, events),
			...changeStatements(principal, operation, organizationId, changes),
		],
	};
	const { idempotency_key: key, ...fields } = input as Record<
		string,
		unknown
	> & {
		idempotency_key?: string;
	};
	const keyedCall = (key: string, given: unknown): KeyedCall => ({
		organizationId,
		userId: principal.userId ?? "",
		operation: operation.name,
		key,
		input: given,
	});
	// If an attempt is repeated, only the changes of the last one count, because earlier attempts
	// left nothing behind.
	let changes: Change[] = [];
	let events: NewEvent[] = [];
	let afterwards: (() => void)[] = [];
	const work = async (client: PoolClient) => {
		changes = [];
		events = [];
		afterwards = [];
		const context: Context = {
			client,
			principal,
			services,
			get membership() {
				if (!membership)
					throw new Error(
						`${operation.name} has no tenant and therefore no membership`,
					);
				return membership;
			},
			changed: (change) => changes.push(change),
			happened: (event) => events.push(event),
			afterCommit: (work) => afterwards.push(work),
		};
		const perform = () => operation.run(context, fields as z.output<Input>);
		const result =
			key === undefined
				? await perform()
				: await answerOnce(client, keyedCall(key, fields), perform);
		if (isUndone) throw new Undone(changes);
		return operation.output.parse(result);
	};
	const { replicaReads } = services;
	const perform = () =>
		replicaReads
			? replicaReads.read(scope, work)
			: retriedTransaction(services.pool, scope, work);
	const output =
		operation.isReadOnly || !membership
			? await perform()
			: await changesOfOrganizations.run(membership.organizationId, perform);
	for (const after of afterwards) after();
	return output;
}

/** The replica answers only what reads the data of an organization. */
function requireReadOfRecords({ name, isReadOnly, tenant }: AnyOperation) {
	if (isReadOnly && tenant !== null) return;
	const why = isReadOnly ? "is not about an organization" : "writes";
	throw badFields([
		{ field: "read_from", message: `must be primary, because ${name} ${why}` },
	]);
}

/**
 * Removes arguments that are null, as if they were not given. An operation that only reads has no
 * field that null could empty.
 */
function withoutNulls(input: unknown): unknown {
	if (typeof input !== "object" || input === null || Array.isArray(input)) {
		return input;
	}
	const given = Object.entries(input).filter(([, value]) => value !== null);
	return Object.fromEntries(given);
}

/**
 * Returns the caller's membership in the organization that the input names. This function checks
 * nothing else in the input. Throws forbidden if the caller may not call the operation. Returns
 * undefined in these cases:
 *
 * - The operation has no tenant.
 * - The input names no organization. Parsing reports that later.
 * - The input names a record of an organization in which the caller is not a member.
 */
export async function authorize(
	services: Services,
	principal: Principal,
	operation: AnyOperation,
	rawInput: unknown,
): Promise<Membership | undefined> {
	const excluded = outOfScope(principal, operation);
	if (operation.access === "self") {
		const why = excluded ?? outOfConfinement(principal, operation);
		if (why) throw new AppError("forbidden", why);
		return undefined;
	}
	rejectClosed(principal, operation, rawInput);
	const needed = NEEDED_ROLE[operation.access];
	const named = namedTenant(principal, operation, rawInput);
	if (operation.tenant !== null && (!named || named === "foreign")) {
		await rejectEnded(services.pool, principal, idOfCall(operation, rawInput));
	}
	if (named === "foreign") throw foreignOrganization();
	if (named) {
		const { membership } = named;
		const mayCall =
			roleReaches(membership.role, needed) ||
			mayAsAuditor(membership, operation);
		const unwritable = outOfRegisters(membership, operation);
		if (mayCall && !excluded && !unwritable) return membership;
		await noteRejectedCall(services, {
			principal,
			operation: operation.name,
			organizationId: named.membership.organizationId,
			recordId: named.recordId,
		});
		throw new AppError(
			"forbidden",
			excluded ??
				(mayCall ? unwritable : undefined) ??
				`permission denied: ${operation.name} needs the role ${needed}; yours in this organization is ${named.membership.role}`,
		);
	}
	if (excluded) throw new AppError("forbidden", excluded);
	if (!mayAnywhere(principal, operation)) {
		const unwritable = principal.memberships
			.filter(({ role }) => roleReaches(role, needed))
			.map((membership) => outOfRegisters(membership, operation));
		throw new AppError(
			"forbidden",
			unwritable[0] ??
				`permission denied: ${operation.name} needs the role ${needed}, which you have in no organization`,
		);
	}
	return undefined;
}

/** Returns true if the caller may call the operation in at least one organization. */
export function mayAnywhere(
	principal: Principal,
	operation: AnyOperation,
): boolean {
	if (operation.access === "self") return true;
	const needed = NEEDED_ROLE[operation.access];
	return (
		(operation.tenant === null && operation.access === "read") ||
		principal.memberships.some(
			(membership) =>
				(roleReaches(membership.role, needed) ||
					mayAsAuditor(membership, operation)) &&
				!outOfRegisters(membership, operation),
		)
	);
}

function foreignOrganization(): AppError {
	return new AppError(
		"forbidden",
		"listOrganizations lists the organizations that you may view, and organization_id is not one of them (permission denied)",
	);
}

/**
 * Makes the error for a record that does not exist. A record of another organization gives the same
 * error.
 */
export function notFound(id: string): AppError {
	const kind = parseId(id)?.kind;
	// Many made-up ids have the form of an organization's id. No tool finds an organization by `id`.
	const noun = kind && kind !== "organization" ? kindNoun(kind) : "record";
	return new AppError("not_found", `there is no ${noun} ${id}`);
}

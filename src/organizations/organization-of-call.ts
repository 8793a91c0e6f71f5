import { badFields } from "../errors.ts";
import { parseId } from "../id.ts";
import { type AnyOperation, idOfCall } from "../operation.ts";
import {
	closedOrganizationOf,
	type Membership,
	membershipForRecord,
	membershipIn,
	type Principal,
} from "../principal.ts";
import { closedOrganization } from "./closures.ts";

/**
 * Returns which of the caller's organizations a call concerns. Returns null if it concerns none of
 * them.
 */
export function organizationOfCall(
	principal: Principal,
	operation: AnyOperation,
	rawInput: unknown,
): string | null {
	const named = namedTenant(principal, operation, rawInput);
	return named && named !== "foreign" ? named.membership.organizationId : null;
}

/**
 * Returns the membership in the organization that a call concerns, with the id of the record if the
 * input names one. Returns "foreign" if the input names an organization in which the caller is not a
 * member. Returns undefined if the input names no organization, or a record of somebody else.
 */
export function namedTenant(
	principal: Principal,
	operation: AnyOperation,
	rawInput: unknown,
): { membership: Membership; recordId: string | null } | "foreign" | undefined {
	if (operation.tenant === null) return undefined;
	const input = (rawInput ?? {}) as Record<string, unknown>;
	if (typeof input !== "object") return undefined;
	const given = input[operation.tenant] ?? undefined;
	const organization = isReference(operation, given)
		? (input.organization_id ?? undefined)
		: given;
	if (operation.tenant === "organization_id" || organization !== given) {
		if (organization === undefined) {
			// A caller with one organization need not name it.
			const [only, ...others] = principal.memberships;
			return only && others.length === 0
				? { membership: only, recordId: null }
				: undefined;
		}
		if (typeof organization !== "string") return undefined;
		const membership = membershipIn(principal, organization);
		return membership ? { membership, recordId: null } : "foreign";
	}
	if (typeof given !== "string") return undefined;
	const membership = parseId(given) && membershipForRecord(principal, given);
	const beside =
		"organization_id" in operation.input.shape && input.organization_id;
	if (typeof beside === "string") {
		const named = membershipIn(principal, beside);
		if (!named) return "foreign";
		// The organization has no such record.
		if (named.organizationId !== (membership || undefined)?.organizationId) {
			return undefined;
		}
	}
	return membership && { membership, recordId: given };
}

/**
 * Returns true if the caller gives a reference id such as NC-005 instead of the record's id. A
 * reference id does not contain the organization, so the operation also takes organization_id.
 */
function isReference({ tenant, input }: AnyOperation, given: unknown): boolean {
	return (
		tenant !== "organization_id" &&
		"organization_id" in input.shape &&
		typeof given === "string" &&
		!parseId(given)
	);
}

/** Adds the organization to an input that leaves it out, because the caller has only this one. */
export function withOrganization(
	operation: AnyOperation,
	input: unknown,
	membership: Membership | undefined,
): unknown {
	if (operation.tenant !== "organization_id" || !membership) return input;
	if (typeof input !== "object" || Array.isArray(input)) return input;
	return { ...input, organization_id: membership.organizationId };
}

/** Rejects a reference id without an organization, if the caller has several organizations. */
export function requireOrganization(
	operation: AnyOperation,
	input: unknown,
): void {
	const given = input as Record<string, unknown>;
	if (!isReference(operation, given[operation.tenant ?? ""])) return;
	throw badFields([
		{
			field: "organization_id",
			message:
				"is required with a reference id, because you have several organizations; listOrganizations returns their ids",
		},
	]);
}

/**
 * Throws forbidden if the call is about an organization of the caller that is closed, or if the
 * caller has no other one.
 */
export function rejectClosed(
	principal: Principal,
	operation: AnyOperation,
	rawInput: unknown,
): void {
	if (!principal.closed || operation.tenant === null) return;
	const [only] = principal.memberships.length === 0 ? principal.closed : [];
	const named = idOfCall(operation, rawInput);
	const closed =
		named === undefined ? only : closedOrganizationOf(principal, named);
	if (closed) throw closedOrganization(closed.message);
}

import {
	createPasswordResetLink,
	resetTwoFactor,
} from "./access/account-operations.ts";
import {
	createApiToken,
	listApiTokens,
	listOrganizationApiTokens,
	revokeApiToken,
	revokeOrganizationApiToken,
	rotateApiToken,
} from "./access/api-token-operations.ts";
import {
	acceptInvitation,
	inviteMember,
	listInvitations,
	revokeInvitation,
} from "./access/invitation-operations.ts";
import {
	createOrganization,
	listMembers,
	removeMember,
	updateMember,
} from "./access/member-operations.ts";
import {
	getProfile,
	leaveOrganization,
	listSessions,
	revokeOtherSessions,
	revokeSession,
	updateProfile,
} from "./access/profile-operations.ts";
import { listAuditLog } from "./audit/operations.ts";
import { verifyAuditLog } from "./audit/verify-operation.ts";
import { importRecords } from "./csv/import.ts";
import { deviceOperations } from "./devices/operations.ts";
import { frameworkOperations } from "./framework-coverage.ts";
import { linkRecords, listLinkedRecords, unlinkRecords } from "./links.ts";
import type { AnyOperation } from "./operation.ts";
import {
	getOrganization,
	listOrganizations,
	updateOrganization,
	updateOrganizationSettings,
} from "./organizations.ts";
import { getOverview } from "./overview.ts";
import { getRecordNames } from "./record-names.ts";
import { getRecordUses } from "./record-uses.ts";
import { asset } from "./records/asset.ts";
import { audit } from "./records/audit.ts";
import { continualImprovement } from "./records/continual-improvement.ts";
import { control } from "./records/control.ts";
import { datum } from "./records/datum.ts";
import { measure } from "./records/measure.ts";
import { nonconformity } from "./records/nonconformity.ts";
import { obligation } from "./records/obligation.ts";
import { people } from "./records/people.ts";
import { risk } from "./records/risk.ts";
import { task } from "./records/task.ts";
import { vendor } from "./records/vendor.ts";
import { searchRecords } from "./search.ts";

/** Everything that can be done, one line each; every door is a loop over this list. */
export const operations = [
	listOrganizations,
	getOrganization,
	updateOrganization,
	updateOrganizationSettings,
	searchRecords,
	getRecordNames,
	getRecordUses,
	getOverview,
	...risk.operations,
	...measure.operations,
	...frameworkOperations,
	...control.operations,
	...vendor.operations,
	...people.operations,
	...nonconformity.operations,
	...obligation.operations,
	...audit.operations,
	...asset.operations,
	...datum.operations,
	...task.operations,
	...continualImprovement.operations,
	...deviceOperations,
	linkRecords,
	unlinkRecords,
	listLinkedRecords,
	importRecords,
	createOrganization,
	listMembers,
	updateMember,
	removeMember,
	inviteMember,
	listInvitations,
	revokeInvitation,
	acceptInvitation,
	createPasswordResetLink,
	resetTwoFactor,
	getProfile,
	updateProfile,
	leaveOrganization,
	listSessions,
	revokeSession,
	revokeOtherSessions,
	createApiToken,
	listApiTokens,
	revokeApiToken,
	rotateApiToken,
	listOrganizationApiTokens,
	revokeOrganizationApiToken,
	listAuditLog,
	verifyAuditLog,
] as const satisfies AnyOperation[];

const byName = new Map<string, AnyOperation>(
	(operations as readonly AnyOperation[]).map((operation) => [
		operation.name,
		operation,
	]),
);

export function findOperation(name: string): AnyOperation | undefined {
	return byName.get(name);
}

import { controlOperations } from "./applicability/control-operations.ts";
import { applicabilityOperations } from "./applicability/operations.ts";
import { makeListAuditLog } from "./audit/operations.ts";
import { getRecordHistory } from "./audit/record-history.ts";
import { verifyAuditLog } from "./audit/verify-operation.ts";
import { exportAuditPackage } from "./audit-package/package-operation.ts";
import {
	addComment,
	deleteComment,
	listComments,
} from "./comments/operations.ts";
import { updateComment, withdrawComment } from "./comments/own-comments.ts";
import { unwatchRecord, watchRecord } from "./comments/watches.ts";
import { compatOperations } from "./compat/operations.ts";
import { importRecords } from "./csv/import.ts";
import { listImports } from "./csv/imports.ts";
import { rollBackImport } from "./csv/rollback.ts";
import { enrollmentKeyOperations } from "./devices/enrollment-key-operations.ts";
import {
	addDeviceException,
	approveDeviceException,
	deleteDeviceException,
	getDeviceException,
	updateDeviceException,
} from "./devices/exceptions/exception-operations.ts";
import { listDeviceExceptions } from "./devices/exceptions/list-exceptions.ts";
import { requestOwnDeviceException } from "./devices/exceptions/own-exception-operation.ts";
import { groupOperations } from "./devices/group-operations.ts";
import { groupPolicyOperations } from "./devices/group-policies/operations.ts";
import { listNonconformityDevices } from "./devices/nonconformities/list-devices.ts";
import { deviceOperations } from "./devices/operations.ts";
import { ownerOperations } from "./devices/owner-operations.ts";
import { documentOperations } from "./documents/operations.ts";
import { evidenceOperations } from "./files/evidence-operations.ts";
import { listMails, retryMail, sendTestMail } from "./mail/operations.ts";
import { myDevicesOperations } from "./my-devices/operations.ts";
import { notificationOperations } from "./notifications/operations.ts";
import { makeAllowApp } from "./oauth/operations.ts";
import type { AnyOperation } from "./operation.ts";
import { deleteOrganization } from "./organizations/delete-operation.ts";
import { domainOperations } from "./organizations/domains/domain-operations.ts";
import { exportOrganization } from "./organizations/export-operation.ts";
import { getMember } from "./organizations/get-member.ts";
import {
	acceptInvitation,
	inviteMember,
	listInvitations,
	revokeInvitation,
} from "./organizations/invitation-operations.ts";
import { inviteMembers } from "./organizations/invite-many.ts";
import {
	listMembers,
	removeMember,
	updateMember,
} from "./organizations/member-operations.ts";
import {
	createOrganization,
	getOrganization,
	makeListOrganizations,
	updateOrganization,
	updateOrganizationSettings,
} from "./organizations/organization-operations.ts";
import { getBoardSummary } from "./overview/board-summary.ts";
import { countRecords } from "./overview/count-records.ts";
import { getCoverages } from "./overview/framework-coverages.ts";
import { getMeasuresOfRisks } from "./overview/measures-of-risks.ts";
import { getNextSteps } from "./overview/next-steps.ts";
import { getOverview } from "./overview/overview.ts";
import { listReportSources } from "./overview/report-sources.ts";
import { getRiskMatrix } from "./overview/risk-matrix.ts";
import { getTrends } from "./overview/trends.ts";
import { addRecords } from "./records/add-records.ts";
import { archiveRecords } from "./records/archive.ts";
import { frameworkOperations } from "./records/framework-coverage.ts";
import {
	linkRecords,
	listLinkedRecords,
	unlinkRecords,
} from "./records/links.ts";
import { getRecordNames } from "./records/names-by-id.ts";
import { recordOperations } from "./records/operations.ts";
import { reassignRecords } from "./records/reassign.ts";
import { searchRecords } from "./records/search.ts";
import { getRecordUses } from "./records/uses.ts";
import { asset } from "./registers/asset.ts";
import { audit } from "./registers/audit.ts";
import { continualImprovement } from "./registers/continual-improvement.ts";
import { datum } from "./registers/datum.ts";
import { measure } from "./registers/measure.ts";
import { nonconformity } from "./registers/nonconformity.ts";
import { obligation } from "./registers/obligation.ts";
import { people } from "./registers/people.ts";
import { risk } from "./registers/risk.ts";
import { task } from "./registers/task.ts";
import { vendor } from "./registers/vendor.ts";
import { provisioningOperations } from "./scim/operations.ts";
import {
	createPasswordResetLink,
	resetTwoFactor,
} from "./sign-in/account-operations.ts";
import {
	getSignInRule,
	updateSignInRule,
} from "./sign-in/only-provider/operations.ts";
import {
	listPasskeys,
	removePasskey,
	renamePasskey,
} from "./sign-in/passkeys/passkey-operations.ts";
import {
	getProfile,
	leaveOrganization,
	listSessions,
	revokeOtherSessions,
	revokeSession,
	updateProfile,
} from "./sign-in/profile-operations.ts";
import {
	addIdentityProvider,
	deleteIdentityProvider,
	listIdentityProviders,
	updateIdentityProvider,
} from "./sign-in/providers/operations.ts";
import { readSamlMetadata } from "./sign-in/saml/metadata-operation.ts";
import {
	getSessionLimits,
	updateSessionLimits,
} from "./sign-in/session-limits-operations.ts";
import { snapshotOperations } from "./snapshots/operations.ts";
import { addStarters, listStarters } from "./starters/operations.ts";
import {
	listApiTokens,
	makeCreateApiToken,
	revokeApiToken,
	revokeApiTokens,
	rotateApiToken,
} from "./tokens/api-token-operations.ts";
import {
	listOrganizationApiTokens,
	revokeOrganizationApiToken,
} from "./tokens/organization-token-operations.ts";
import { toolsetsOf } from "./tokens/scopes.ts";
import { addVendorReview, listVendorReviews } from "./vendors/reviews.ts";
import { savedViewOperations } from "./views/saved-views.ts";
import {
	addWebhook,
	deleteWebhook,
	listWebhookDeliveries,
	listWebhooks,
	resendWebhookDelivery,
	rotateWebhookSecret,
	testWebhook,
	updateWebhook,
} from "./webhooks/operations.ts";

/** Every operation of the service. Each door loops over this list. */
export const operations = [
	makeListOrganizations(toolsets),
	getOrganization,
	updateOrganization,
	updateOrganizationSettings,
	getSessionLimits,
	updateSessionLimits,
	getSignInRule,
	updateSignInRule,
	deleteOrganization,
	exportOrganization,
	exportAuditPackage,
	searchRecords,
	getRecordNames,
	getRecordUses,
	getRecordHistory,
	getOverview,
	getNextSteps,
	getTrends,
	getMeasuresOfRisks,
	getRiskMatrix,
	getCoverages,
	getBoardSummary,
	listReportSources,
	countRecords,
	...recordOperations(risk),
	...recordOperations(measure),
	...frameworkOperations,
	...controlOperations,
	...recordOperations(vendor),
	...recordOperations(people),
	...recordOperations(nonconformity),
	listNonconformityDevices,
	...recordOperations(obligation),
	...recordOperations(audit),
	...recordOperations(asset),
	...recordOperations(datum),
	...recordOperations(task),
	...recordOperations(continualImprovement),
	...evidenceOperations,
	...documentOperations,
	...snapshotOperations,
	...applicabilityOperations,
	...compatOperations,
	...deviceOperations,
	...enrollmentKeyOperations,
	...groupOperations,
	...groupPolicyOperations,
	...ownerOperations,
	...myDevicesOperations,
	listDeviceExceptions,
	getDeviceException,
	addDeviceException,
	requestOwnDeviceException,
	updateDeviceException,
	approveDeviceException,
	deleteDeviceException,
	archiveRecords,
	listVendorReviews,
	addVendorReview,
	listComments,
	addComment,
	updateComment,
	withdrawComment,
	deleteComment,
	watchRecord,
	unwatchRecord,
	linkRecords,
	unlinkRecords,
	listLinkedRecords,
	addRecords,
	listStarters,
	addStarters,
	reassignRecords,
	importRecords,
	listImports,
	rollBackImport,
	createOrganization,
	listMembers,
	getMember,
	updateMember,
	removeMember,
	inviteMember,
	inviteMembers,
	listInvitations,
	revokeInvitation,
	acceptInvitation,
	listMails,
	retryMail,
	sendTestMail,
	createPasswordResetLink,
	resetTwoFactor,
	getProfile,
	updateProfile,
	leaveOrganization,
	listPasskeys,
	renamePasskey,
	removePasskey,
	listSessions,
	revokeSession,
	revokeOtherSessions,
	makeCreateApiToken(toolsets),
	listApiTokens,
	revokeApiToken,
	revokeApiTokens,
	rotateApiToken,
	makeAllowApp(toolsets),
	listOrganizationApiTokens,
	revokeOrganizationApiToken,
	makeListAuditLog(operationNames),
	verifyAuditLog,
	listWebhooks,
	addWebhook,
	updateWebhook,
	deleteWebhook,
	rotateWebhookSecret,
	testWebhook,
	listWebhookDeliveries,
	resendWebhookDelivery,
	listIdentityProviders,
	addIdentityProvider,
	updateIdentityProvider,
	deleteIdentityProvider,
	readSamlMetadata,
	...notificationOperations,
	...domainOperations,
	...provisioningOperations,
	...savedViewOperations,
] as const satisfies AnyOperation[];

function operationNames(): readonly string[] {
	return operations.map(({ name }) => name);
}

function toolsets(): readonly string[] {
	return toolsetsOf(operations);
}

const byName = new Map<string, AnyOperation>(
	(operations as readonly AnyOperation[]).map((operation) => [
		operation.name,
		operation,
	]),
);

export function findOperation(name: string): AnyOperation | undefined {
	return byName.get(name);
}

import type { Actions } from "./action.ts";

/** The words for what happens in an organization, besides its devices. */
export const organizationActions = {
	inviteMembers: { group: "members", phrase: "invited" },
	inviteMember: { group: "members", phrase: "invited" },
	revokeInvitation: {
		group: "members",
		phrase: "revoked the invitation of",
	},
	retryMail: {
		group: "members",
		phrase: "retried a mail",
		isAboutActor: true,
	},
	sendTestMail: {
		group: "members",
		phrase: "sent a test mail",
		isAboutActor: true,
	},
	rotateWebhookSecret: {
		group: "organization",
		phrase: "rotated the secret of the webhook",
	},
	signDocumentByLink: { group: "organization", phrase: "signed the {kind}" },
	addNotificationChannel: {
		group: "organization",
		phrase: "added the notification channel",
	},
	updateNotificationChannel: {
		group: "organization",
		phrase: "changed the notification channel",
	},
	deleteNotificationChannel: {
		group: "organization",
		phrase: "deleted the notification channel",
	},
	testNotificationChannel: {
		group: "organization",
		phrase: "tested the notification channel",
	},
	provisionUser: { group: "members", phrase: "provisioned" },
	updateProvisionedUser: {
		group: "members",
		phrase: "changed what is known about",
	},
	deprovisionUser: { group: "members", phrase: "deactivated" },
	provisionGroup: { group: "members", phrase: "added the group" },
	updateProvisionedGroup: { group: "members", phrase: "changed the group" },
	deleteProvisionedGroup: { group: "members", phrase: "deleted the group" },
	createScimCredential: {
		group: "members",
		phrase: "made the SCIM credential",
	},
	revokeScimCredential: {
		group: "members",
		phrase: "revoked the SCIM credential",
	},
	updateProvisioning: {
		group: "members",
		phrase: "changed the role of provisioned people in",
	},
	updateScimGroup: {
		group: "members",
		phrase: "set the role that the group gives:",
	},
	addDomain: { group: "organization", phrase: "added the domain" },
	verifyDomain: {
		group: "organization",
		phrase: "asked to verify the domain",
	},
	confirmDomain: {
		group: "organization",
		phrase: "verified the domain",
	},
	missDomainRecord: {
		group: "organization",
		phrase: "did not find the TXT record of the domain",
		title: "Domain record not found",
	},
	loseDomain: {
		group: "organization",
		phrase: "ended the verification of the domain",
		title: "End domain verification",
	},
	deleteDomain: { group: "organization", phrase: "removed the domain" },
	addWebhook: { group: "organization", phrase: "added the webhook" },
	updateWebhook: { group: "organization", phrase: "changed the webhook" },
	deleteWebhook: { group: "organization", phrase: "deleted the webhook" },
	testWebhook: { group: "organization", phrase: "tested the webhook" },
	resendWebhookDelivery: {
		group: "organization",
		phrase: "sent a delivery again to the webhook",
	},
	acceptInvitation: {
		group: "members",
		phrase: "joined the organization",
		isAboutActor: true,
	},
	updateMember: { group: "members", phrase: "changed the role of" },
	removeMember: { group: "members", phrase: "removed the member" },
	leaveOrganization: {
		group: "members",
		phrase: "left the organization",
		isAboutActor: true,
	},
	createPasswordResetLink: {
		group: "members",
		phrase: "made a password reset link for",
	},
	resetTwoFactor: {
		group: "members",
		phrase: "reset the second factor of",
	},
	createApiToken: { group: "members" },
	rotateApiToken: { group: "members" },
	revokeApiToken: { group: "members" },
	revokeApiTokens: { group: "members", phrase: "revoked the API token" },
	revokeOrganizationApiToken: { group: "members" },
	allowApp: { group: "members", phrase: "connected the app" },

	importRecords: { group: "organization" },
	rollBackImport: {
		group: "organization",
		phrase: "rolled back the import of",
	},
	saveView: { group: "organization", phrase: "saved the shared view" },
	deleteView: { group: "organization", phrase: "deleted the shared view" },
	addRecords: { group: "organization" },
	createDraftDocumentVersion: {
		group: "organization",
		phrase: "drafted a version of the {kind}",
	},
	updateDocumentVersion: {
		group: "organization",
		phrase: "changed the draft of the {kind}",
	},
	deleteDraftDocumentVersion: {
		group: "organization",
		phrase: "deleted the draft of the {kind}",
	},
	requestDocumentVersionApproval: {
		group: "organization",
		phrase: "asked for approval of the {kind}",
	},
	approveDocumentVersion: {
		group: "organization",
		phrase: "approved the {kind}",
	},
	rejectDocumentVersion: {
		group: "organization",
		phrase: "rejected the {kind}",
	},
	withdrawDocumentVersion: {
		group: "organization",
		phrase: "took back a version of the {kind}",
	},
	publishDocumentVersion: {
		group: "organization",
		phrase: "published the {kind}",
	},
	requestDocumentVersionSignature: {
		group: "organization",
		phrase: "asked people to sign the {kind}",
	},
	copySignLink: {
		group: "organization",
		phrase: "copied a link to sign the {kind}",
	},
	copySignLinks: {
		group: "organization",
		phrase: "copied all links to sign the {kind}",
	},
	remindSigners: {
		group: "organization",
		phrase: "reminded people to sign the {kind}",
	},
	cancelSignatureRequest: {
		group: "organization",
		phrase: "withdrew a request to sign the {kind}",
	},
	signDocumentVersion: { group: "organization", phrase: "signed the {kind}" },
	archiveRecords: {
		group: "organization",
		phrase: "archived the {kind}",
	},
	takeSnapshot: { group: "organization", phrase: "took the {kind}" },
	deleteSnapshot: { group: "organization", phrase: "deleted the {kind}" },
	approveStatementOfApplicability: {
		group: "organization",
		phrase: "approved the statement of applicability of",
	},
	addVendorReview: { group: "organization", phrase: "reviewed the {kind}" },
	addStarters: { group: "organization", phrase: "added from a starter set" },
	reassignRecords: { group: "organization", phrase: "handed over the {kind}" },
	addComment: { group: "organization", phrase: "commented on the {kind}" },
	updateComment: {
		group: "organization",
		phrase: "corrected a comment on the {kind}",
	},
	withdrawComment: {
		group: "organization",
		phrase: "deleted their own comment on the {kind}",
	},
	deleteComment: {
		group: "organization",
		phrase: "deleted a comment on the {kind}",
	},
	watchRecord: { group: "organization", phrase: "watches the {kind}" },
	unwatchRecord: {
		group: "organization",
		phrase: "no longer watches the {kind}",
	},
	linkRecords: {
		group: "organization",
		phrase: "linked a record to the {kind}",
	},
	unlinkRecords: {
		group: "organization",
		phrase: "removed a link of the {kind}",
	},
	assignTask: { group: "organization", phrase: "assigned the {kind}" },
	unassignTask: { group: "organization", phrase: "unassigned the {kind}" },
	linkControlMeasure: {
		group: "organization",
		phrase: "linked a record to the {kind}",
	},
	unlinkControlMeasure: {
		group: "organization",
		phrase: "removed a link of the {kind}",
	},
	linkControlDocument: {
		group: "organization",
		phrase: "linked a record to the {kind}",
	},
	unlinkControlDocument: {
		group: "organization",
		phrase: "removed a link of the {kind}",
	},
	linkControlAudit: {
		group: "organization",
		phrase: "linked a record to the {kind}",
	},
	unlinkControlAudit: {
		group: "organization",
		phrase: "removed a link of the {kind}",
	},
	linkControlSnapshot: {
		group: "organization",
		phrase: "linked a record to the {kind}",
	},
	unlinkControlSnapshot: {
		group: "organization",
		phrase: "removed a link of the {kind}",
	},
	setUp: { group: "organization" },
	createOrganization: {
		group: "organization",
		phrase: "created the organization",
	},
	suspendOrganization: {
		group: "organization",
		phrase: "suspended the {kind}",
	},
	resumeOrganization: {
		group: "organization",
		phrase: "ended the suspension of the {kind}",
	},
	deleteOrganization: {
		group: "organization",
		phrase: "closed for deletion the {kind}",
	},
	exportOrganization: { group: "organization", phrase: "exported the {kind}" },
	exportAuditPackage: {
		group: "organization",
		phrase: "made an audit package for the {kind}",
	},
	importOrganization: { group: "organization", phrase: "imported the {kind}" },
	trustOrganization: {
		group: "organization",
		phrase: "lifted the mail limits of the {kind}",
	},
	restoreOrganization: {
		group: "organization",
		phrase: "stopped the deletion of the {kind}",
	},
	updateOrganization: {
		group: "organization",
		phrase: "changed the organization",
	},
	updateOrganizationSettings: {
		group: "organization",
		phrase: "changed the settings of the {kind}",
	},
	updateSessionLimits: {
		group: "organization",
		phrase: "changed the limits of sessions of",
	},
	updateSignInRule: {
		group: "organization",
		phrase: "changed the sign-in rule of",
	},
} as const satisfies Actions;

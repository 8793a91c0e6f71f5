import { setTimeout } from "node:timers/promises";
import { operations } from "../../src/operations.ts";
import { makeSetupLink } from "../../src/organizations/first-setup.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { callOperation, PASSWORD, sendTo } from "../support/console-client.ts";
import { joinOrganization, makeUser } from "../support/people.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";
import { SamlProvider } from "../support/saml-provider.ts";
import {
	heartbeatBody,
	postureResult,
	type TestService,
} from "../support/service.ts";

/**
 * Calls every operation once, in an order in which each one finds the data that it needs. Returns
 * the answer to each operation: `200`, or the status and the error.
 */
export async function useEverything(
	running: TestService,
): Promise<Map<string, string>> {
	const answered = new Map<string, string>();
	const { service, database, organizationId: organization_id } = running;
	const { url } = service;
	// A setup link is accepted only while there are no users, so it comes first.
	await sendTo(url, "/api/setup");
	const setup = await makeSetupLink(database.pool, url);
	await sendTo(url, "/api/setup", {
		token: setup?.split("#")[1] ?? "",
		organization_name: "First",
		name: "Grace",
		email: "grace@example.com",
		password: PASSWORD,
	});

	const passwordHash = await hashPassword(PASSWORD);
	const signIn = async (
		role: "admin" | "member" | "viewer",
		organizationId: string,
	) => {
		const user = await makeUser(
			database,
			{ organizationId, role },
			{ passwordHash },
		);
		const enter = () =>
			sendTo(url, "/api/auth/sign-in/email", {
				email: user.email,
				password: PASSWORD,
			});
		const { cookie } = await enter();
		const use = async (name: string, input: object = {}) => {
			const call = () => callOperation(url, name, input, cookie);
			let { status, body } = await call();
			// On a busy machine, the service turns some of these many calls away.
			while (status === 503) {
				await setTimeout(200);
				({ status, body } = await call());
			}
			if (status === 200) answered.set(name, "200");
			else if (!answered.has(name)) {
				answered.set(name, `${status} ${JSON.stringify(body)}`);
			}
			return body;
		};
		return { user, cookie, enter, use };
	};
	const admin = await signIn("admin", organization_id);
	const { use } = admin;
	const elsewhere = await createOrganization(database.pool, "Elsewhere");
	const other = await signIn("admin", elsewhere);

	const references = await makeReferences(
		{ call: use, principal: () => undefined as never },
		organization_id,
	);
	const walk = async (sample: (typeof samples)[number]) => {
		const added = await use(`add${sample.one}`, {
			organization_id,
			...inputOf(sample, references, "all"),
		});
		const { id } = added[sample.key];
		await use(`get${sample.one}`, { id });
		await use(`list${sample.many}`, {
			organization_id,
			filter: { query: "several words" },
		});
		const field = sample.required[0] ?? "description";
		await use(`update${sample.one}`, {
			id,
			[field]: added[sample.key][field],
		});
		const listed = await fetch(
			`${url}/api/console/export/list${sample.many}.csv?organization_id=${organization_id}`,
			{ headers: { cookie: admin.cookie } },
		);
		await listed.text();
		await use(`delete${sample.one}`, { id });
	};
	await Promise.all(samples.map(walk));
	const { import_id } = await use("importRecords", {
		organization_id,
		kind: "vendor",
		csv: "name\nImported\n",
		dry_run: false,
	});
	await use("listImports", { organization_id });
	const { saved_view } = await use("addSavedView", {
		organization_id,
		list: "vendor",
		name: "Mine",
		search: { sort: "name" },
	});
	await use("listSavedViews", { organization_id, list: "vendor" });
	await use("updateSavedView", { id: saved_view.id, name: "Own" });
	await use("deleteSavedView", { id: saved_view.id });
	await use("rollBackImport", { id: import_id, dry_run: false });
	const pair = {
		record_id: references.measure[0],
		linked_record_id: references.vendor[0],
	};
	await use("linkRecords", pair);
	await use("listLinkedRecords", { record_id: pair.record_id });
	await use("unlinkRecords", pair);
	await use("addVendorReview", {
		vendor_id: references.vendor[0],
		outcome: "APPROVED",
		risk_rating: "LOW",
	});
	await use("listVendorReviews", { vendor_id: references.vendor[0] });
	const { document } = await use("addDocument", {
		organization_id,
		title: "Policy",
		document_type: "POLICY",
		classification: "INTERNAL",
		review_interval_months: 12,
	});
	const { snapshot } = await use("takeSnapshot", {
		organization_id,
		name: "Before the audit",
		type: "ALL",
	});
	await use("listSnapshots", { organization_id });
	await use("getSnapshot", { id: snapshot.id, verify: true });
	await use("listSnapshotRecords", { snapshot_id: snapshot.id });
	await use("listSnapshotDifferences", { snapshot_id: snapshot.id });
	const { framework } = await use("addFramework", {
		organization_id,
		name: "ISO 27001",
	});
	const { control } = await use("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.8.1",
		name: "Devices",
	});
	for (const [name, kind, id] of [
		["Measure", "measure", references.measure[0]],
		["Document", "document", document.id],
		[
			"Audit",
			"audit",
			(
				await use("addAudit", {
					organization_id,
					framework_id: framework.id,
				})
			).audit.id,
		],
		["Snapshot", "snapshot", snapshot.id],
	]) {
		const ends = { control_id: control.id, [`${kind}_id`]: id };
		await use(`linkControl${name}`, ends);
		await use(`unlinkControl${name}`, ends);
	}
	const { sha256 } = await use("getStatementOfApplicability", {
		framework_id: framework.id,
	});
	await use("approveStatementOfApplicability", {
		framework_id: framework.id,
		sha256,
	});
	await use("listStatementApprovals", { framework_id: framework.id });
	const { task } = await use("addTask", { organization_id, name: "Assigned" });
	await use("assignTask", {
		task_id: task.id,
		assigned_to_id: references.people[0],
	});
	await use("unassignTask", { task_id: task.id });
	await use("deleteSnapshot", { id: snapshot.id });
	const draft = async (content: string) =>
		(
			await use("createDraftDocumentVersion", {
				document_id: document.id,
				content,
				asks_again: true,
			})
		).document_version.id;
	const published = await draft("One");
	await use("updateDocumentVersion", { id: published, content: "Two" });
	await use("publishDocumentVersion", { id: published });
	const addPersonOf = async ({ email }: { email: string }) =>
		(
			await use("addPeople", {
				organization_id,
				full_name: "Signer",
				kind: "EMPLOYEE",
				primary_email_address: email,
			})
		).people.id;
	await use("requestDocumentVersionSignature", {
		document_version_id: published,
		person_ids: [await addPersonOf(admin.user), references.people[0]],
	});
	const { document_version_signatures: signatures } = await use(
		"listDocumentVersionSignatures",
		{ document_version_id: published },
	);
	await use("getDocumentVersionSignature", { id: signatures[0].id });
	await use("cancelSignatureRequest", {
		id: signatures.find(
			(one: { signed_by: string }) => one.signed_by === references.people[0],
		).id,
	});
	const { document_version: read } = await use("getDocumentVersion", {
		id: published,
	});
	await use("signDocumentVersion", {
		id: published,
		content_hash: read.content_hash,
	});
	const next = await draft("Three");
	const approver = await signIn("member", organization_id);
	await use("updateDocument", {
		id: document.id,
		approver_ids: [await addPersonOf(approver.user)],
	});
	await use("requestDocumentVersionApproval", { id: next });
	await approver.use("rejectDocumentVersion", { id: next, note: "Too short" });
	await use("requestDocumentVersionApproval", { id: next });
	await approver.use("approveDocumentVersion", { id: next });
	await use("listDocumentVersions", { document_id: document.id });
	await use("deleteDraftDocumentVersion", { id: await draft("Four") });
	for (const archived of [true, false]) {
		await use("archiveRecords", {
			organization_id,
			record_ids: [references.vendor[0], references.measure[0]],
			archived,
		});
	}
	const watched = { record_id: pair.record_id };
	const { comment } = await use("addComment", { ...watched, text: "Done?" });
	await use("listComments", watched);
	await use("deleteComment", { id: comment.id });
	await use("unwatchRecord", watched);
	await use("watchRecord", watched);
	await use("listStarters", { organization_id, framework: "gdpr" });
	await use("addStarters", {
		organization_id,
		framework: "nis-2",
		measures: ["mfa"],
		risks: ["phishing"],
	});
	await use("addRecords", {
		organization_id,
		kind: "measure",
		records: [
			{
				name: "Bulk",
				category: "IT",
				owner_id: references.people[0],
				linked_record_ids: references.vendor,
			},
		],
		idempotency_key: "statements",
	});
	await use("reassignRecords", {
		from: references.people[0],
		to: references.people[1],
	});
	await use("searchRecords", { organization_id, query: "cloud" });
	await use("getRecordNames", { organization_id, ids: references.vendor });
	await use("getRecordUses", { id: references.people[0] });
	await use("getRiskMatrix", { organization_id });
	await use("getCoverages", { organization_id });
	await use("getBoardSummary", {
		organization_id,
		compared_with: "2026-01-31",
	});
	await use("getRecordHistory", { id: references.people[0] });
	for (const kind of ["risk", "measure", "device"]) {
		await use("countRecords", {
			organization_id,
			kind,
			group_by: "owner_id",
			filter: { query: "cloud" },
		});
	}

	const device = await running.activateDevice();
	await running.post(
		"heartbeat",
		heartbeatBody({ hardware_uuid: device.hardwareUuid }),
		{ key: device.key },
	);
	for (const status of ["PASS", "FAIL"]) {
		await running.post(
			"postures",
			{ results: [postureResult({ status })] },
			{ key: device.key },
		);
	}
	const { posture_reports: reports } = await use("listDevicePostureReports", {
		device_id: device.id,
	});
	await use("getDevicePostureReport", {
		device_id: device.id,
		report_id: reports[0].report_id,
	});
	await use("getDevice", { id: device.id });
	await use("listDevicePostures", { device_id: device.id });
	await use("listPostureSpans", {
		organization_id,
		check_key: "DISK_ENCRYPTION",
	});
	await use("listDevices", { organization_id, filter: { query: "laptop" } });
	const as_of = new Date().toISOString();
	await use("listDevices", { organization_id, as_of });
	await use("listPostureSummary", { organization_id, group_by: "owner_id" });
	await use("getCheckResults", {
		organization_id,
		check_keys: ["DISK_ENCRYPTION"],
		history_days: 30,
	});
	const { device: added } = await use("addDevice", { organization_id });
	await use("updateDevice", { id: added.id, owner_id: references.people[0] });
	await use("reissueEnrollmentToken", { id: added.id });
	await use("revokeDevice", { id: added.id });
	await use("deleteDevice", { id: added.id });
	await useFleet(use, running, organization_id, admin.user.email);
	await running.post("unenroll", "", { key: device.key });

	const made = await use("createApiToken", { name: "laptop" });
	await sendTo(
		url,
		"/api/mcp/v1",
		{
			jsonrpc: "2.0",
			id: 1,
			method: "tools/call",
			params: { name: "listOrganizations", arguments: {} },
		},
		{
			authorization: `Bearer ${made.token}`,
			accept: "application/json, text/event-stream",
		},
	);
	await database.owner.query(
		"insert into oauth_clients (id, name, redirect_uris, is_registered) values ('client', 'App', '{http://localhost/}', true)",
	);
	await use("allowApp", {
		client_id: "client",
		response_type: "code",
		code_challenge: "x".repeat(43),
		code_challenge_method: "S256",
	});
	const { id } = made.api_token;
	await use("rotateApiToken", { id });
	await use("revokeApiToken", { id });
	await use("revokeApiTokens", { ids: [id] });
	const another = await use("createApiToken", { name: "desktop" });
	await use("revokeOrganizationApiToken", {
		organization_id,
		id: another.api_token.id,
	});

	await use("inviteMembers", { organization_id, csv: "email\nx@example.org" });
	const invite = (email: string) =>
		use("inviteMember", { organization_id, email, role: "member" });
	const tokenOf = (made: { invitation_url?: string; reset_url?: string }) =>
		(made.invitation_url ?? made.reset_url ?? "").split("#")[1] ?? "";
	await other.use("acceptInvitation", {
		token: tokenOf(await invite(other.user.email)),
	});
	const joined = await invite("new@example.com");
	await sendTo(url, "/api/link", { token: tokenOf(joined) });
	await sendTo(url, "/api/join", {
		token: tokenOf(joined),
		name: "New",
		password: PASSWORD,
	});
	const { invitation } = await invite("never@example.com");
	const untilMailed = async () => {
		// A mail about a document waits a minute for further news, so this makes it due at once.
		await database.owner.query(
			"update mails set due_at = now() where state = 'QUEUED' and attempts = 0",
		);
		const queued = "select from mails where state = 'QUEUED'";
		while ((await database.owner.query(queued)).rowCount) {
			service.wake();
			await setTimeout(20);
		}
	};
	// The link of the mail is made when it is sent.
	await untilMailed();
	const { webhook } = await use("addWebhook", {
		organization_id,
		url: "https://assay.invalid/hook",
	});
	const hook = { organization_id, id: webhook.id };
	const { delivery_id } = await use("testWebhook", hook);
	await use("listWebhookDeliveries", hook);
	await use("resendWebhookDelivery", { organization_id, id: delivery_id });
	await use("rotateWebhookSecret", hook);
	await use("updateWebhook", { ...hook, is_enabled: false });
	await use("deleteWebhook", hook);
	const { domain } = await use("addDomain", {
		organization_id,
		domain: "assay.invalid",
	});
	await use("listDomains", { organization_id });
	await use("verifyDomain", { organization_id, id: domain.id });
	await use("deleteDomain", { organization_id, id: domain.id });
	const { identity_provider } = await use("addIdentityProvider", {
		organization_id,
		kind: "OIDC",
		name: "Example",
		issuer: "https://login.assay.invalid",
		client_id: "assay",
		client_secret: "secret",
	});
	const idp = { organization_id, id: identity_provider.id };
	await use("readSamlMetadata", {
		organization_id,
		xml: new SamlProvider().metadata(),
	});
	await use("listIdentityProviders", { organization_id });
	await use("updateIdentityProvider", { ...idp, name: "Example Inc." });
	await use("deleteIdentityProvider", idp);
	const { secret, credential } = await use("createScimCredential", {
		organization_id,
		name: "Entra ID",
	});
	const scim = (method: string, path: string, body?: object) =>
		fetch(`${url}/scim/v2/${path}`, {
			method,
			headers: {
				authorization: `Bearer ${secret}`,
				"content-type": "application/scim+json",
			},
			...(body && { body: JSON.stringify(body) }),
		}).then((answer) => answer.text());
	await database.owner.query(
		`insert into organization_domains (organization_id, id, domain, challenge, verified_by, verified_at)
		values ($1, $1, 'scim.example', repeat('x', 32), 'OPERATOR', now())`,
		[organization_id],
	);
	const provisioned = JSON.parse(
		await scim("POST", "Users", { userName: "ada@scim.example" }),
	);
	const group = JSON.parse(
		await scim("POST", "Groups", {
			displayName: "Staff",
			members: [{ value: provisioned.id }],
		}),
	);
	await use("updateScimGroup", {
		organization_id,
		id: group.id,
		role: "member",
	});
	await use("updateProvisioning", { organization_id, default_role: "member" });
	await scim("GET", `Users?filter=${encodeURIComponent('userName eq "x"')}`);
	await scim("GET", "Groups");
	await scim("PATCH", `Groups/${group.id}`, {
		schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
		Operations: [{ op: "replace", value: { displayName: "Everybody" } }],
	});
	for (const active of [false, true]) {
		await scim("PUT", `Users/${provisioned.id}`, {
			userName: "ada@scim.example",
			active,
		});
	}
	await scim("DELETE", `Groups/${group.id}`);
	await scim("DELETE", `Users/${provisioned.id}`);
	await use("getProvisioning", { organization_id });
	await use("revokeScimCredential", { organization_id, id: credential.id });
	const told = await use("addNotificationChannel", {
		organization_id,
		kind: "SLACK",
		name: "Chat",
		address: "https://assay.invalid/hook",
	});
	const chat = { organization_id, id: told.channel.id };
	await use("listNotificationChannels", { organization_id });
	await use("testNotificationChannel", chat);
	await use("listNotificationDeliveries", chat);
	await use("updateNotificationChannel", { ...chat, is_enabled: false });
	await use("deleteNotificationChannel", chat);
	const { people } = await use("addPeople", {
		organization_id,
		full_name: "Grace",
		primary_email_address: "grace@example.com",
		kind: "EMPLOYEE",
	});
	const owned = await use("addDevice", {
		organization_id,
		name: "Grace's laptop",
		owner_id: people.id,
	});
	await use("sendMyDevicesLinks", {
		organization_id,
		device_ids: [owned.device.id],
	});
	const copied = await use("copyMyDevicesLink", {
		organization_id,
		device_id: owned.device.id,
	});
	const token = copied.link.split("#")[1];
	const opened = await sendTo(url, "/api/my-devices/open", { token });
	const page = { cookie: opened.cookie };
	await sendTo(url, "/api/my-devices", undefined, page);
	await sendTo(url, "/api/my-devices/close", {}, page);
	await sendTo(url, "/api/my-devices/new-link", { token });
	await untilMailed();
	const { mail_id } = await use("sendTestMail", { organization_id });
	// The state of the mail decides whether it can be retried, so it must not change meanwhile.
	await untilMailed();
	await database.owner.query(
		"update mails set state = 'FAILED', due_at = null, sent_at = null where id = $1",
		[mail_id],
	);
	await use("retryMail", { organization_id, id: mail_id });
	await use("revokeInvitation", { organization_id, id: invitation.id });

	const third = await signIn("viewer", organization_id);
	const whose = { organization_id, user_id: third.user.id };
	await use("updateMember", { ...whose, role: "member" });
	await use("getMember", whose);
	const reset = await use("createPasswordResetLink", whose);
	await sendTo(url, "/api/reset-password", {
		token: tokenOf(reset),
		new_password: `${PASSWORD} anew`,
		password: `${PASSWORD} anew`,
	});
	await database.owner.query(
		"insert into two_factors (id, user_id, secret, backup_codes) values (repeat('x', 32), $1, 'x', 'x')",
		[third.user.id],
	);
	await database.owner.query(
		"update users set two_factor_enabled = true where id = $1",
		[third.user.id],
	);
	await use("resetTwoFactor", whose);
	await use("removeMember", whose);
	await joinOrganization(database, third.user, elsewhere, "viewer");

	const { organization: second } = await use("createOrganization", {
		name: "Second",
	});
	await use("exportOrganization", { organization_id });
	await use("deleteOrganization", {
		organization_id: second.id,
		name: "Second",
		reason: "It was a trial.",
	});
	await use("updateProfile", { name: "Renamed" });
	await use("updateOrganization", { organization_id, name: "Acme" });
	await use("updateOrganizationSettings", {
		organization_id,
		heartbeat_interval_seconds: 60,
	});
	await use("getSessionLimits", { organization_id });
	await use("updateSessionLimits", { organization_id, session_max_hours: 12 });
	await use("getSignInRule", { organization_id });
	await use("updateSignInRule", { organization_id, emergency_user_ids: [] });
	await admin.enter();
	await database.owner.query(
		`insert into passkeys (id, user_id, rp_id, credential_id, public_key, name, can_sign_in, is_synced)
		select repeat(key, 32), $1, 'localhost', convert_to(key, 'UTF8'), '\\x01', 'Phone', true, false
		from unnest(array['p', 'q']) key`,
		[admin.user.id],
	);
	const { passkeys } = await use("listPasskeys");
	const [{ id: passkeyId }] = passkeys;
	await use("renamePasskey", { id: passkeyId, name: "Old phone" });
	await use("removePasskey", { id: passkeyId });
	const { sessions } = await use("listSessions");
	await use("revokeSession", {
		id: sessions.find((each: { is_current: boolean }) => !each.is_current)?.id,
	});
	await use("revokeOtherSessions");
	await other.use("leaveOrganization", { organization_id });
	await use("getFrameworkCoverage", { id: references.framework[0] });
	// These functions need nothing but the organization.
	for (const { name, tenant } of operations) {
		if (!answered.has(name)) {
			await use(name, tenant === null ? {} : { organization_id });
		}
	}
	await sendTo(url, "/api/auth/sign-out", {}, { cookie: admin.cookie });
	await fetch(`${url}/health/ready`);
	await fetch(service.metricsUrl ?? "");
	return answered;
}

/** Calls the operations on many devices, with devices that enrolled with a key. */
async function useFleet(
	// biome-ignore lint/suspicious/noExplicitAny: as in the other calls.
	use: (name: string, input?: object) => Promise<any>,
	running: TestService,
	organization_id: string,
	/** The address of the person to whom the caller belongs. */
	owner_email: string,
): Promise<void> {
	const { key, enrollment_key: token } = await use("addEnrollmentKey", {
		organization_id,
		name: "Laptops",
		max_devices: 9,
		requires_approval: true,
	});
	const answer = await running.post("enroll", { token, owner_email });
	const { api_key } = (await answer.json()) as { api_key: string };
	await running.post("heartbeat", heartbeatBody(), { key: api_key });
	await use("listEnrollmentKeys", { organization_id });
	for (const [name, more] of [
		["Listed", {}],
		["Filtered", { filter: { status: "PENDING" } }],
	] as const) {
		const { device_group: group } = await use("addDeviceGroup", {
			organization_id,
			name,
			...more,
		});
		await use("updateDeviceGroup", { id: group.id, name: `${name} again` });
		await use("listDeviceGroups", { organization_id });
		const filter = { group_id: group.id };
		await use("listDevices", { organization_id, filter });
		await use("setDeviceGroupPolicy", {
			group_id: group.id,
			checks: [{ check_key: "DISK_ENCRYPTION", grace_days: 9 }],
		});
		await use("listDeviceGroupPolicies", { organization_id });
		if (name === "Listed") {
			await use("deleteDeviceGroupPolicy", { group_id: group.id });
		}
		await use("deleteDeviceGroup", { id: group.id });
	}
	await useExceptions(use, organization_id);
	const { devices } = await use("listDevices", {
		organization_id,
		filter: { enrollment_key_id: key.id },
	});
	const { device: claimed } = await use("answerDeviceClaim", {
		id: devices[0].id,
		is_mine: true,
	});
	const own = await running.activateDevice();
	// An exception excuses all devices from the check of the disk.
	const check_key = "SCREEN_LOCK";
	const failure = { results: [postureResult({ check_key, status: "FAIL" })] };
	await running.post("postures", failure, { key: own.key });
	await use("updateDevice", { id: own.id, owner_id: claimed.owner_id });
	await use("requestOwnDeviceException", {
		device_id: own.id,
		check_key,
		reason: "The disk holds no data",
		ends_at: new Date(Date.now() + 86_400_000).toISOString(),
	});
	const input = { organization_id, device_ids: [devices[0].id] };
	for (const name of [
		"confirmDeviceOwners",
		"revokeDevices",
		"replaceDevices",
		"reissueEnrollmentTokens",
		"approveDevices",
		"rejectDevices",
	]) {
		await use(name, input);
	}
	const owners = [{ device: devices[0].id, owner: null }];
	await use("setDeviceOwners", { organization_id, owners });
	const csv = `device,owner\n${devices[0].id},\n`;
	await use("importDeviceOwners", { organization_id, csv });
	await use("revokeEnrollmentKey", { id: key.id });
}

async function useExceptions(
	// biome-ignore lint/suspicious/noExplicitAny: as in the other calls.
	use: (name: string, input?: object) => Promise<any>,
	organization_id: string,
): Promise<void> {
	for (const after of ["delete", "approve"]) {
		const { device_exception: exception } = await use("addDeviceException", {
			organization_id,
			check: "DISK_ENCRYPTION",
			reason: "The disk holds no data",
			ends_at: new Date(Date.now() + 86_400_000).toISOString(),
		});
		const { id } = exception;
		await use("updateDeviceException", { id, reason: "An empty disk" });
		await use(`${after}DeviceException`, { id });
		if (after === "approve") await use("getDeviceException", { id });
	}
	await use("listDeviceExceptions", { organization_id });
	const { nonconformity } = await use("addNonconformity", { organization_id });
	await use("listNonconformityDevices", { id: nonconformity.id });
	await use("deleteNonconformity", { id: nonconformity.id });
}

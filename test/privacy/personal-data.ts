import { createHash } from "node:crypto";
import { appendChanges } from "../../src/audit/log.ts";
import { withTenant } from "../../src/db/pool.ts";
import { type Principal, systemPrincipal } from "../../src/principal.ts";
import { dayKey } from "../../src/sign-in/sign-in-throttle.ts";
import type { Calls } from "../support/calls.ts";
import {
	makeApiToken,
	makeUser,
	signedIn,
	type TestUser,
} from "../support/people.ts";

/** Markers in every text that the tests store about somebody. */
export const MARKER = "quokka";
export const USER_MARKER = "numbat";

let made = 0;

/** Creates a person with the marker in every text. The person owns a risk and a device. */
export async function addPerson(
	calls: Calls,
	organization = calls.organizationId,
	by?: Principal,
	marker = MARKER,
) {
	const number = ++made;
	const { people } = await calls.call(
		"addPeople",
		{
			organization_id: organization,
			full_name: `${marker} Jones ${number}`,
			primary_email_address: `${marker}-${number}@example.com`,
			additional_email_addresses: [`${marker}-${number}@example.org`],
			kind: "EMPLOYEE",
			position: `Head of ${marker}s`,
			contract_start_date: "2001-02-03",
		},
		by,
	);
	await calls.call(
		"updatePeople",
		{ id: people.id, full_name: `${marker} Smith ${number}` },
		by,
	);
	const { risk } = await calls.call(
		"addRisk",
		{
			organization_id: organization,
			name: "Fire",
			category: "Premises",
			treatment: "MITIGATED",
			inherent_likelihood: 2,
			inherent_impact: 5,
			owner_id: people.id,
		},
		by,
	);
	const { device } = await calls.call(
		"addDevice",
		{ organization_id: organization, name: "laptop", owner_id: people.id },
		by,
	);
	return {
		id: people.id as string,
		email: people.primary_email_address as string,
		riskId: risk.id as string,
		deviceId: device.id as string,
	};
}

/** Stores an answer that is kept for a repeated call. */
export async function keepAnswer(
	calls: Calls,
	userId: string,
	key: string,
	result: string,
) {
	await calls.database.owner.query(
		"insert into idempotency_keys values ($1, $2, 'addPeople', $3, sha256('x'), $4)",
		[calls.organizationId, userId, key, result],
	);
}

/**
 * Creates a user with the marker in every text, and rows in every table that holds data of a user.
 */
export async function addUser(
	calls: Calls,
	role: "admin" | "member" = "member",
) {
	const organization_id = calls.organizationId;
	const { owner } = calls.database;
	const user: TestUser = await makeUser(
		calls.database,
		{ organizationId: organization_id, role },
		{ email: `${USER_MARKER}-user-${++made}@example.com`, passwordHash: "x" },
	);
	await owner.query("update users set name = $2 where id = $1", [
		user.id,
		`${USER_MARKER} User`,
	]);
	user.name = `${USER_MARKER} User`;
	const token = await makeApiToken(calls.database, user, {
		name: `${USER_MARKER}'s token`,
	});
	await owner.query(
		`insert into connected_apps (token_id, client_id, redirect_uri, code_hash, code_challenge, code_ends_at)
		values ($1, $2, 'http://localhost/', sha256(convert_to($2, 'UTF8')), repeat('x', 43), now())`,
		[token.id, `https://${USER_MARKER}.example/client`],
	);
	await owner.query(
		"insert into api_token_usage values ($1, current_date, $2, 1, 0)",
		[token.id, `${USER_MARKER}Tool`],
	);
	await owner.query(
		"insert into sessions (id, user_id, token, expires_at, ip_address, user_agent) values ($1, $2, $3, now() + interval '1 day', '192.0.2.77', $4)",
		[
			`s${user.id.slice(1)}`,
			user.id,
			`${USER_MARKER}-${made}`,
			`${USER_MARKER} browser`,
		],
	);
	await owner.query(
		"insert into sign_in_places (user_id, browser, network, address) values ($1, $2, '192.0.2.77', '192.0.2.77')",
		[user.id, `${USER_MARKER} browser`],
	);
	await owner.query(
		"insert into passkeys (id, user_id, rp_id, credential_id, public_key, name, can_sign_in, is_synced) values ($1::text, $2, 'localhost', convert_to($1::text, 'UTF8'), '\\x00', $3, true, false)",
		[`p${user.id.slice(1)}`, user.id, `${USER_MARKER}'s phone`],
	);
	await owner.query(
		"insert into two_factors (id, user_id, secret, backup_codes) values ($1, $2, $3, $3)",
		[`t${user.id.slice(1)}`, user.id, USER_MARKER],
	);
	await owner.query(
		"insert into verifications (id, identifier, value, expires_at) values ($1, $2, $3, now())",
		[`v${user.id.slice(1)}`, `${USER_MARKER}-device`, user.id],
	);
	await owner.query(
		`insert into scim_users (organization_id, user_id, user_name, external_id, is_active, attributes)
		values ($1, $2, $3, $3, true, jsonb_build_object('displayName', $3::text))`,
		[organization_id, user.id, `${USER_MARKER}-${made}`],
	);
	await owner.query(
		"insert into emergency_sign_ins (organization_id, session_id, user_id) values ($1, $2::text, $2::text)",
		[organization_id, user.id],
	);
	await withTenant(calls.database.pool, organization_id, (client) =>
		appendChanges(
			client,
			systemPrincipal(organization_id),
			"provisionUser",
			organization_id,
			[
				{
					kind: "user",
					id: user.id,
					name: `${USER_MARKER}-${made}`,
					fields: { name: { after: { formatted: USER_MARKER } } },
				},
			],
		),
	);
	await owner.query("insert into sign_in_failures values ($1, 1, now())", [
		createHash("sha256").update(dayKey(user.email)).digest(),
	]);
	await keepAnswer(calls, user.id, `${USER_MARKER} key`, USER_MARKER);
	const acting: Principal = {
		...(await signedIn(calls.database, user)),
		client: `${USER_MARKER}'s browser`,
		address: "192.0.2.77",
		token: { id: token.id, name: `${USER_MARKER}'s token` },
	};
	const { measure } = await calls.call("addMeasure", {
		organization_id,
		name: "Discussed",
		category: "IT",
	});
	await calls.call(
		"addComment",
		{ record_id: measure.id, text: "Agreed" },
		acting,
	);
	await copySignLink(calls, acting);
	const profile = { name: `${USER_MARKER} Former` };
	await calls.call("updateProfile", profile, acting);
	await calls.call("updateProfile", { name: user.name }, acting);
	if (role === "admin") {
		await calls.call(
			"inviteMember",
			{ organization_id, email: `someone-${made}@example.com`, role: "viewer" },
			acting,
		);
		await calls.call(
			"addDevice",
			{ organization_id, name: "by the user" },
			acting,
		);
		await calls.call(
			"createScimCredential",
			{ organization_id, name: "by the user" },
			acting,
		);
		await calls.call(
			"addEnrollmentKey",
			{ organization_id, name: "by the user", max_devices: 1 },
			acting,
		);
	}
	return { ...user, acting };
}

/** Lets the user copy a link with which somebody signs a document. */
async function copySignLink(calls: Calls, acting: Principal) {
	const { organizationId: organization_id } = calls;
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: "Signer",
		kind: "EMPLOYEE",
		primary_email_address: `signer-${made}@example.com`,
	});
	const { document } = await calls.call("addDocument", {
		organization_id,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version } = await calls.call("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Visitors wear a badge.",
	});
	const { id: document_version_id } = document_version;
	await calls.call("publishDocumentVersion", { id: document_version_id });
	await calls.call("requestDocumentVersionSignature", {
		document_version_id,
		person_ids: [people.id],
	});
	const { document_version_signatures: requests } = await calls.call(
		"listDocumentVersionSignatures",
		{ document_version_id },
	);
	await calls.call("copySignLink", { id: requests[0].id }, acting);
	// The user has another person's signature and approval in their account.
	const account = [document_version_id, acting.userId, acting.name];
	const { owner } = calls.database;
	await owner.query(
		"update document_signatures set user_id = $2, user_name = $3 where version_id = $1",
		account,
	);
	await owner.query(
		`insert into document_approvals
			(organization_id, id, version_id, person_name, decision, user_id, user_name)
		select v.organization_id, v.id, v.id, 'Signer', 'APPROVED', $2, $3
		from document_versions v where v.id = $1`,
		account,
	);
}

import { PASSWORD, sendTo } from "../../support/console-client.ts";
import { joinOrganization } from "../../support/people.ts";
import type { Walk } from "./callers.ts";
import { untilMailed } from "./outgoing.ts";

/** Uses API tokens and connected apps. */
export async function useTokens({
	running: { service, database },
	organization_id,
	admin: { use },
}: Walk): Promise<void> {
	const { url } = service;
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
}

const tokenOf = (made: { invitation_url?: string; reset_url?: string }) =>
	(made.invitation_url ?? made.reset_url ?? "").split("#")[1] ?? "";

/** Uses invitations and members. */
export async function useMembers({
	running,
	organization_id,
	elsewhere,
	signIn,
	admin: { use },
	other,
}: Walk): Promise<void> {
	const { service, database } = running;
	const { url } = service;
	await use("inviteMembers", { organization_id, csv: "email\nx@example.org" });
	const invite = (email: string) =>
		use("inviteMember", { organization_id, email, role: "member" });
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
	// The link of the mail is made when it is sent.
	await untilMailed(running);
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
}

/** Uses organizations with their settings, and the caller's own account. */
export async function useOrganizations({
	running: { database },
	organization_id,
	admin,
	other,
}: Walk): Promise<void> {
	const { use } = admin;
	const { organization: second } = await use("createOrganization", {
		name: "Second",
	});
	await use("exportOrganization", { organization_id });
	const year = { from: "2026-01-01", until: "2026-12-31" };
	await use("exportAuditPackage", { organization_id, ...year });
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
}

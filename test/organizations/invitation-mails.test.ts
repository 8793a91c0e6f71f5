import { afterAll, beforeAll, expect, test } from "vitest";
import type { Role } from "../../src/principal.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { type Answer, PASSWORD, sendTo } from "../support/console-client.ts";
import {
	joinOrganization,
	makeUser,
	type TestUser,
} from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

let served: TestService;
let sink: SmtpSink;
let passwordHash: string;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(async () => {
	await served.close();
	sink.close();
});

interface Person {
	user: TestUser;
	use: (operation: string, input: object) => Promise<Answer["body"]>;
}

/** Creates a user with this role in an organization of the operator, and signs the user in. */
async function signInAs(role: Role): Promise<Person> {
	const user = await makeUser(
		served.database,
		{ organizationId: served.organizationId, role },
		{ passwordHash },
	);
	const { url } = served.service;
	const { cookie } = await sendTo(url, "/api/auth/sign-in/email", {
		email: user.email,
		password: PASSWORD,
	});
	return {
		user,
		use: async (operation, input) => {
			const path = `/api/console/${operation}`;
			const { status, body } = await sendTo(url, path, input, { cookie });
			expect(status, JSON.stringify(body)).toBe(200);
			return body;
		},
	};
}

async function makeOwn({ use }: Person): Promise<string> {
	const made = await use("createOrganization", { name: "Own" });
	return made.organization.id;
}

let strangers = 0;

/**
 * Invites a stranger. Returns whether the link was mailed. The answer must contain the link in
 * either case.
 */
async function invite({ use }: Person, organization_id: string) {
	const email = `stranger-${++strangers}@example.com`;
	const made = await use("inviteMember", {
		organization_id,
		email,
		role: "viewer",
	});
	expect(made.invitation_url).toContain("#asy_inv_");
	if (made.is_mailed) await sink.next();
	expect(sink.waiting()).toBe(0);
	return made.is_mailed as boolean;
}

const forgetInvitations = () =>
	served.database.owner.query("delete from invitations");

test("a user who is only a viewer can mail five invitations a day from their own organizations, even with simultaneous calls", async () => {
	const viewer = await signInAs("viewer");
	const own = [await makeOwn(viewer), await makeOwn(viewer)];
	const mailed = await Promise.all(
		Array.from({ length: 8 }, async (_, n) => {
			const email = `many-${n}@example.com`;
			const organization_id = own[n % 2];
			const input = { organization_id, email, role: "viewer" };
			return (await viewer.use("inviteMember", input)).is_mailed;
		}),
	);
	expect(mailed.filter(Boolean)).toHaveLength(5);
	for (let n = 0; n < 5; n++) await sink.next();
	// Revoking invitations must not permit further mails.
	await served.database.owner.query(
		"update invitations set revoked_at = now()",
	);
	expect(await invite(viewer, own[0] as string)).toBe(false);
	// The viewer's helper is trusted no more than the viewer.
	const helper = await signInAs("viewer");
	await joinOrganization(
		served.database,
		helper.user,
		own[0] as string,
		"admin",
	);
	await served.database.owner.query(
		"delete from memberships where user_id = $1 and organization_id = $2",
		[helper.user.id, served.organizationId],
	);
	for (let n = 0; n < 5; n++)
		expect(await invite(helper, own[0] as string)).toBe(true);
	expect(await invite(helper, own[0] as string)).toBe(false);
	await forgetInvitations();
});

test("all users whom no organization of the operator trusts can mail fifty invitations a day together", async () => {
	const viewer = await signInAs("viewer");
	const own = await makeOwn(viewer);
	const other = await signInAs("viewer");
	await served.database.owner.query(
		`insert into invitations (organization_id, id, email, role, token_hash, mailed_token_hash, invited_by, invited_by_id, expires_at)
		select $1::text, left($1::text, 12) || 'i' || lpad(n::text, 19, '0'), 'x' || n || '@example.com', 'viewer',
			sha256(('shown ' || n)::bytea), sha256(('mailed ' || n)::bytea), 'x', $2, now() + interval '7 days'
		from generate_series(1, 49) n`,
		[own, other.user.id],
	);
	expect(await invite(viewer, own)).toBe(true);
	expect(await invite(viewer, own)).toBe(false);
	// The limit does not affect members of an organization of the operator.
	const member = await signInAs("member");
	expect(await invite(member, await makeOwn(member))).toBe(true);
	await forgetInvitations();
});

test("members and admins of an organization of the operator can mail more than five", async () => {
	const admin = await signInAs("admin");
	const member = await signInAs("member");
	const own = await makeOwn(member);
	for (let n = 0; n < 6; n++) {
		expect(await invite(admin, served.organizationId)).toBe(true);
		expect(await invite(member, own)).toBe(true);
	}
	await forgetInvitations();
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

let served: TestService;
let cookie: string;
beforeAll(async () => {
	served = await startService();
	const { email } = await makeUser(
		served.database,
		{ organizationId: served.organizationId, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	({ cookie } = await sendTo(served.service.url, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	}));
});
afterAll(() => served.close());

const call = (name: string, input: object) =>
	sendTo(
		served.service.url,
		`/api/console/${name}`,
		{ organization_id: served.organizationId, ...input },
		{ cookie },
	);

const refusal = (host: string) => ({
	status: 400,
	body: {
		fields: [
			{
				field: "url",
				message: `must be a public address, which ${host} is not; the operator can allow others with ASSAY_OUTGOING_NETWORKS`,
			},
		],
	},
});

test.each([
	["http://10.1.2.3/hook", "10.1.2.3"],
	["https://[fd00::1]:8443/hook", "fd00::1"],
	// Another way to write 192.168.1.5.
	["http://0xc0a80105/hook", "192.168.1.5"],
])("a new webhook to %s is refused", async (url, host) => {
	expect(await call("addWebhook", { url })).toMatchObject(refusal(host));
});

test("a webhook cannot be moved to a private address, and one that has it already can be disabled", async () => {
	const added = await call("addWebhook", { url: "https://example.com/hook" });
	expect(added.status, JSON.stringify(added.body)).toBe(200);
	const { id } = added.body.webhook;
	const url = "http://10.1.2.3/hook";
	expect(await call("updateWebhook", { id, url })).toMatchObject(
		refusal("10.1.2.3"),
	);
	// The operator may forbid a network later.
	await served.database.owner.query(
		"update webhooks set url = $2 where id = $1",
		[id, url],
	);
	const change = { id, url, is_enabled: false };
	expect(await call("updateWebhook", change)).toMatchObject({ status: 200 });
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Service, serve } from "../../src/serve.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { makeUser } from "../support/people.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";

let database: TestDatabase;
let dns: DnsServer;
let sink: SmtpSink;
let service: Service;
beforeAll(async () => {
	[database, dns, sink] = await Promise.all([
		createDatabase(),
		startDnsServer(),
		openSmtpSink(),
	]);
	service = await serve(
		{
			...readConfig({
				ASSAY_PORT: "0",
				DATABASE_URL: database.url,
				ASSAY_SECRET: "a secret that is long enough for this test",
				ASSAY_SMTP_URL: sink.url,
				ASSAY_MAIL_FROM: "Assay <assay@example.com>",
			}),
			dnsServers: [dns.address],
		},
		makeLogger("silent"),
	);
});
afterAll(async () => {
	await service.close();
	sink.close();
	dns.close();
	await database.drop();
});

test("every administrator gets one mail when the record of a verified domain is gone", async () => {
	const organization_id = await createOrganization(database.pool, "Acme");
	const admin = await makeUser(
		database,
		{ organizationId: organization_id, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	await makeUser(database, { organizationId: organization_id, role: "member" });
	const { cookie } = await sendTo(service.url, "/api/auth/sign-in/email", {
		email: admin.email,
		password: PASSWORD,
	});
	const call = (operation: string, input: object) =>
		sendTo(
			service.url,
			`/api/console/${operation}`,
			{ organization_id, ...input },
			{ cookie },
		);
	const { body } = await call("addDomain", { domain: "example.com" });
	const { id, record_name, record_value } = body.domain;
	dns.records.set(record_name, [record_value]);
	const look = async (state: string) => {
		await call("verifyDomain", { id });
		await until(`the domain is ${state}`, async () => {
			const { domains } = (await call("listDomains", {})).body;
			return !domains[0].is_checking && domains[0].state === state;
		});
	};
	await look("VERIFIED");
	dns.records.clear();
	await look("RECORD_MISSING");
	const mail = await sink.next();
	expect(mail.to).toContain(admin.email);
	expect(mail.text).toContain("A domain of Acme on Assay loses");
	expect(mail.text).toMatch(/example\.com, verified until .+ UTC/);
	expect(mail.text).toContain(`/o/${organization_id}/settings/sign-in`);
	await look("RECORD_MISSING");
	const { rows } = await database.owner.query(
		"select user_id from mails where kind = 'DOMAIN_RECORD'",
	);
	expect(rows).toEqual([{ user_id: admin.id }]);
});

import { expect, onTestFinished, test } from "vitest";
import { makeLogger } from "../../src/log.ts";
import { startDomainChecks } from "../../src/organizations/domains/domain-checks.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { makeCalls } from "../support/calls.ts";
import { startDnsServer } from "../support/dns-server.ts";

test("a name server that stays silent verifies nothing and loses nothing", async () => {
	const calls = await makeCalls();
	const dns = await startDnsServer();
	const checks = startDomainChecks({
		pool: calls.database.pool,
		log: makeLogger("silent"),
		dnsServers: [dns.address],
	});
	onTestFinished(async () => {
		await checks.stop();
		dns.close();
		await calls.close();
	});
	const ours = systemPrincipal(calls.organizationId);
	const look = async () => {
		checks.wake();
		await checks.idle();
		const { domains } = await calls.call("listDomains", {}, ours);
		return domains[0];
	};
	const { domain } = await calls.call(
		"addDomain",
		{ domain: "example.com" },
		ours,
	);
	dns.records.set(domain.record_name, ["v=spf1 -all", domain.record_value]);
	await calls.call("verifyDomain", { id: domain.id }, ours);
	expect(await look()).toMatchObject({ state: "VERIFIED", failure: null });
	dns.answers = false;
	await calls.database.owner.query(
		`update organization_domains set next_check_at = now(),
			missing_since = missing_since - interval '30 days'`,
	);
	expect(await look()).toMatchObject({
		state: "VERIFIED",
		failure: "NO_ANSWER",
		missing_since: null,
	});
});

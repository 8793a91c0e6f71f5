import type { Pool } from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makePool, transaction, withTenant } from "../../src/db/pool.ts";
import type { Poller } from "../../src/jobs/poller.ts";
import { makeLogger } from "../../src/log.ts";
import { startDomainChecks } from "../../src/organizations/domains/domain-checks.ts";
import { readDomain } from "../../src/organizations/domains/domain-name.ts";
import {
	MAX_DOMAINS,
	organizationOfDomain,
	verifiedDomainsOf,
} from "../../src/organizations/domains/domain-store.ts";
import {
	removeByOperator,
	verifyByOperator,
} from "../../src/organizations/domains/operator-domains.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Principal, systemPrincipal } from "../../src/principal.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";

let calls: Calls;
let dns: DnsServer;
let checks: Poller;
let identity: Pool;
let otherId: string;
/** Administrators with a fresh proof, as the command line counts. */
let ours: Principal;
let theirs: Principal;
beforeAll(async () => {
	calls = await makeCalls();
	dns = await startDnsServer();
	otherId = await createOrganization(calls.database.pool, "Other");
	ours = systemPrincipal(calls.organizationId);
	theirs = systemPrincipal(otherId);
	identity = makePool(
		{ connectionString: calls.database.url },
		{ max: 1, role: "identity" },
	);
	checks = startDomainChecks({
		pool: calls.database.pool,
		log: makeLogger("silent"),
		dnsServers: [dns.address],
	});
});
afterEach(async () => {
	await checks.idle();
	await calls.database.owner.query("delete from organization_domains");
	dns.records.clear();
});
afterAll(async () => {
	await checks.stop();
	await identity.end();
	dns.close();
	await calls.close();
});

async function add(domain: string, by = ours) {
	const answer = await calls.call("addDomain", { domain }, by);
	return answer.domain;
}

/** Publishes the record of a domain. */
function publish({ record_name, record_value }: Record<string, string>) {
	dns.records.set(`${record_name}`, ["v=spf1 -all", `${record_value}`]);
}

/** Asks for a look, waits for it, and returns the domain. */
async function look({ id }: { id: string }, by = ours) {
	await calls.call("verifyDomain", { id }, by);
	checks.wake();
	await checks.idle();
	const { domains } = await calls.call("listDomains", {}, by);
	return domains.find((one: { id: string }) => one.id === id);
}

/** Moves what happened to the domains into the past, and looks again. */
async function afterDays(days: number) {
	await calls.database.owner.query(
		`update organization_domains set next_check_at = now(),
			missing_since = missing_since - $1 * interval '1 day'
		where next_check_at is not null`,
		[days],
	);
	checks.wake();
	await checks.idle();
	const { domains } = await calls.call("listDomains", {}, ours);
	return domains[0];
}

async function auditedEvents() {
	const { audit_entries } = await calls.call("listAuditLog", {}, ours);
	return audit_entries
		.filter((entry: { actor_name: string }) => entry.actor_name === "Assay")
		.map((entry: { operation: string }) => entry.operation);
}

test("a domain is verified when its TXT record has the right text, and not before", async () => {
	const domain = await add("Example.COM.");
	expect(domain).toMatchObject({
		domain: "example.com",
		state: "UNVERIFIED",
		record_name: "_assay-challenge.example.com",
		record_value: expect.stringMatching(/^assay-verify=[\w-]{32}$/),
	});
	expect(await look(domain)).toMatchObject({
		state: "UNVERIFIED",
		failure: "NOT_FOUND",
		is_checking: false,
	});
	dns.records.set(domain.record_name, ["assay-verify=somebody-else"]);
	expect(await look(domain)).toMatchObject({ failure: "OTHER_VALUE" });
	const found = async () =>
		withTenant(calls.database.pool, calls.organizationId, (client) =>
			verifiedDomainsOf(client, calls.organizationId),
		);
	expect(await found()).toEqual([]);
	publish(domain);
	expect(await look(domain)).toMatchObject({
		state: "VERIFIED",
		verified_by: "DNS",
		failure: null,
	});
	expect(await found()).toEqual(["example.com"]);
});

test("a domain is verified for one organization at most, and only for the one that proved it", async () => {
	const mine = await add("example.com");
	publish(mine);
	await look(mine);
	const copy = await add("example.com", theirs);
	expect(copy.record_value).not.toBe(mine.record_value);
	publish(copy);
	expect(await look(copy, theirs)).toMatchObject({
		state: "UNVERIFIED",
		failure: "TAKEN",
	});
	expect(await organizationOfDomain(identity, "example.com")).toBe(
		calls.organizationId,
	);
	expect(
		await organizationOfDomain(identity, "sub.example.com"),
	).toBeUndefined();
	await calls.call("deleteDomain", { id: mine.id }, ours);
	expect(await look(copy, theirs)).toMatchObject({ state: "VERIFIED" });
	expect(await organizationOfDomain(identity, "example.com")).toBe(otherId);
});

test("a domain stays verified for 7 days after its record disappeared", async () => {
	const domain = await add("example.com");
	publish(domain);
	await look(domain);
	dns.records.clear();
	const missing = await afterDays(0);
	expect(missing).toMatchObject({ state: "RECORD_MISSING" });
	expect(
		Date.parse(missing.kept_until) - Date.parse(missing.missing_since),
	).toBe(7 * 86_400_000);
	publish(domain);
	expect(await afterDays(8)).toMatchObject({
		state: "VERIFIED",
		missing_since: null,
	});
	dns.records.clear();
	await afterDays(0);
	expect(await afterDays(6)).toMatchObject({ state: "RECORD_MISSING" });
	expect(await afterDays(1.1)).toMatchObject({
		state: "UNVERIFIED",
		verified_by: null,
	});
	// Nobody asked for another look, so a record alone does not verify it again.
	publish(domain);
	expect(await afterDays(0)).toMatchObject({ state: "UNVERIFIED" });
	expect(await look(domain)).toMatchObject({ state: "VERIFIED" });
	expect((await auditedEvents()).slice(0, 6)).toEqual([
		"confirmDomain",
		"loseDomain",
		"missDomainRecord",
		"confirmDomain",
		"missDomainRecord",
		"confirmDomain",
	]);
});

test("the operator verifies a domain without a record, and it is never lost", async () => {
	const inTenant = (work: typeof verifyByOperator, organizationId: string) =>
		withTenant(calls.database.pool, organizationId, (client) =>
			work(client, systemPrincipal(), organizationId, "example.com"),
		);
	expect(await inTenant(verifyByOperator, calls.organizationId)).toMatchObject({
		state: "VERIFIED",
		verified_by: "OPERATOR",
	});
	expect(await afterDays(30)).toMatchObject({ state: "VERIFIED" });
	await expect(inTenant(verifyByOperator, otherId)).rejects.toMatchObject({
		code: "conflict",
		message: expect.stringContaining("another organization"),
	});
	await withTenant(calls.database.pool, calls.organizationId, (client) =>
		removeByOperator(
			client,
			systemPrincipal(),
			calls.organizationId,
			"example.com",
		),
	);
	expect(await inTenant(verifyByOperator, otherId)).toMatchObject({
		state: "VERIFIED",
	});
});

test("an administrator needs a fresh proof to verify and to delete a domain", async () => {
	const domain = await add("example.com");
	for (const name of ["verifyDomain", "deleteDomain"]) {
		expect(await calls.refusal(name, { id: domain.id })).toMatchObject({
			code: "forbidden",
			fields: ["proof"],
		});
	}
	expect(
		await calls.refusal("listDomains", {}, calls.principal("member")),
	).toMatchObject({ code: "forbidden" });
});

test("a domain of another organization can be neither verified nor deleted", async () => {
	const domain = await add("example.com", theirs);
	for (const name of ["verifyDomain", "deleteDomain"]) {
		expect(
			await calls.refusal(
				name,
				{ organization_id: calls.organizationId, id: domain.id },
				ours,
			),
		).toMatchObject({ code: "not_found" });
	}
	expect((await calls.call("listDomains", {}, ours)).domains).toEqual([]);
});

test("an organization adds a domain once, and at most 20 of them", async () => {
	await add("example.com");
	expect(
		await calls.refusal("addDomain", { domain: "EXAMPLE.com" }, ours),
	).toMatchObject({ code: "bad_request" });
	for (let index = 1; index < MAX_DOMAINS; index++)
		await add(`d${index}.example`);
	expect(
		(await calls.refusal("addDomain", { domain: "one-more.example" }, ours))
			.message,
	).toContain("at most 20");
});

test("the name of a domain is read into one form, and everything else is refused", () => {
	expect(readDomain(" Example.COM. ")).toBe("example.com");
	expect(readDomain("münchen.example")).toBe("xn--mnchen-3ya.example");
	for (const wrong of [
		"",
		"com",
		"127.0.0.1",
		"::1",
		"a..b",
		"-a.example",
		"https://example.com",
		"ada@example.com",
		"*.example.com",
		"_dmarc.example.com",
		"exa mple.com",
		`${"a".repeat(64)}.example`,
		`${"a.".repeat(130)}example`,
		"x".repeat(100_000),
	]) {
		expect(readDomain(wrong), wrong).toBeUndefined();
	}
});

test("the roles of requests see the domains of their own organization only", async () => {
	await add("example.com", theirs);
	const { rows } = await withTenant(
		calls.database.pool,
		calls.organizationId,
		(client) => client.query("select from organization_domains"),
	);
	expect(rows).toEqual([]);
	await expect(
		transaction(calls.database.pool, { organizationId: otherId }, (client) =>
			client.query("update organization_domains set organization_id = $1", [
				calls.organizationId,
			]),
		),
	).rejects.toMatchObject({ code: "42501" });
});

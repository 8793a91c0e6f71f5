import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { openOrganization } from "../../src/organizations/closures.ts";
import { GRACE_DAYS } from "../../src/organizations/days.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { startConsole, type TestConsole } from "../support/console-session.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";
import { zoneOfAnotherDay } from "../support/zone-of-another-day.ts";

let served: TestConsole;
let sink: SmtpSink;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
});
afterAll(async () => {
	await served.close();
	sink.close();
});

const statesOf = async (organizationId: string) => {
	const { rows } = await served.database.owner.query(
		"select state from mails where organization_id = $1 and kind = 'ORGANIZATION_DELETION'",
		[organizationId],
	);
	return rows.map(({ state }) => state as string);
};

test("the other administrators get a mail when one of them closes the organization, and nobody else does", async () => {
	const id = await createOrganization(served.database.pool, "Doomed");
	const caller = await served.signIn("admin", id);
	const other = await served.signIn("admin", id);
	await served.signIn("member", id);
	const { zone, day } = zoneOfAnotherDay(
		new Date(Date.now() + GRACE_DAYS * 86_400_000).toISOString(),
	);
	await caller.use("updateOrganizationSettings", {
		organization_id: id,
		time_zone: zone,
	});
	await caller.use("deleteOrganization", {
		organization_id: id,
		name: "Doomed",
		reason: "It was sold.",
	});
	const mail = await sink.next();
	expect(mail.to).toContain(other.user.email);
	expect(mail.text).toContain(`Doomed on Assay will be deleted on ${day}`);
	expect(mail.text).toContain(`/o/${id}`);
	await until("the mail is sent", async () =>
		(await statesOf(id)).every((state) => state === "SENT"),
	);
	expect(await statesOf(id)).toEqual(["SENT"]);
	expect(sink.waiting()).toBe(0);
});

test("a deletion with the wrong name mails nobody", async () => {
	const id = await createOrganization(served.database.pool, "Kept");
	const caller = await served.signIn("admin", id);
	await served.signIn("admin", id);
	const { status } = await caller.call("deleteOrganization", {
		organization_id: id,
		name: "kept",
		reason: "x",
	});
	expect(status).toBe(400);
	expect(await statesOf(id)).toEqual([]);
});

test("a mail that waits is not sent after the organization was restored", async () => {
	const id = await createOrganization(served.database.pool, "Back again");
	const caller = await served.signIn("admin", id);
	await served.signIn("admin", id);
	sink.answers.set("MAIL FROM", "451 later");
	await caller.use("deleteOrganization", {
		organization_id: id,
		name: "Back again",
		reason: "x",
	});
	await until("the first attempt fails", async () => {
		const { rows } = await served.database.owner.query(
			"select from mails where organization_id = $1 and attempts > 0 and failure is not null",
			[id],
		);
		return rows.length === 1;
	});
	await withTenant(served.database.pool, id, (client) =>
		openOrganization(client, systemPrincipal(), id, "DELETION"),
	);
	sink.answers.clear();
	await served.database.owner.query(
		"update mails set due_at = now() where organization_id = $1",
		[id],
	);
	await until("the mail is not needed", async () => {
		served.service.wake();
		return (await statesOf(id))[0] === "NOT_NEEDED";
	});
	expect(sink.waiting()).toBe(0);
});

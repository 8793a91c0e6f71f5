import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/db/database.ts";
import { startBackgroundWork } from "../../src/jobs/background-work.ts";
import { makeLogger } from "../../src/log.ts";
import { queueMail } from "../../src/mail/queue.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { makeOutgoingRule } from "../../src/outgoing/outgoing-address.ts";
import { connectTo } from "../support/backups.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { makeUser } from "../support/people.ts";
import { until } from "../support/until.ts";

test("while a job that is being stopped still works, no other job begins new work", async () => {
	const made = await createDatabaseForTest();
	const { url, owner } = made;
	const config = readConfig({
		DATABASE_URL: url,
		ASSAY_SMTP_URL: "smtp://127.0.0.1:1",
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	const database = await openDatabase(config);
	onTestFinished(() => database.close());
	const organizationId = await createOrganization(database.pool, "Acme");
	const { id: userId } = await makeUser(made, {
		organizationId,
		role: "admin",
	});
	const background = startBackgroundWork(
		database,
		config,
		"a secret of at least thirty-two characters",
		makeOutgoingRule(config.outgoingAllow),
		makeLogger("silent"),
	);
	background.firstLooks.begin();
	const holder = await connectTo(url);
	await holder.query("begin; lock table events in access exclusive mode");
	await until("a job that waits", async () => {
		background.wake();
		const { rowCount } = await owner.query(
			"select from pg_locks where relation = 'events'::regclass and not granted",
		);
		return rowCount;
	});
	// A look for mails that has begun already may still find the one below.
	await background.mail?.idle();

	const stopping = background.stop();
	await queueMail(owner, { kind: "TEST", organizationId, userId });
	background.mail?.wake();
	await background.mail?.idle();
	await holder.query("rollback");
	await stopping;
	const { rows } = await owner.query("select attempts from mails");
	expect(rows).toEqual([{ attempts: 0 }]);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { makeOrganizationId } from "../../src/id.ts";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { makeApiToken } from "../support/people.ts";
import { postureResult } from "../support/service.ts";

let served: TestConsole;
let admin: Session;
let organization_id: string;
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
	organization_id = served.organizationId;
});
afterAll(() => served.close());

const TODAY = "2026-06-15";
const overview = (by = admin) =>
	by.use("getOverview", { organization_id, today: TODAY });

const REGISTERS = [
	{
		one: "Nonconformity",
		many: "Nonconformities",
		keys: "nonconformities",
		date: "due_date",
		open: { status: "IN_PROGRESS" },
		done: { status: "CLOSED" },
		more: {},
	},
	{
		one: "Task",
		many: "Tasks",
		keys: "tasks",
		date: "deadline",
		open: { state: "TODO" },
		done: { state: "DONE" },
		more: { name: "x" },
	},
	{
		one: "Obligation",
		many: "Obligations",
		keys: "obligations",
		date: "due_date",
		open: { status: "PARTIALLY_COMPLIANT" },
		done: { status: "COMPLIANT" },
		more: { requirement: "x" },
	},
	{
		one: "ContinualImprovement",
		many: "ContinualImprovements",
		keys: "continual_improvements",
		date: "target_date",
		open: { status: "OPEN" },
		done: { status: "CLOSED" },
		more: {},
	},
];

test.for(
	REGISTERS,
)("$keys: the overview counts open, overdue and soon due records, and the filters return the same number", async ({
	one,
	many,
	keys,
	date,
	open,
	done,
	more,
}) => {
	const days = [
		"2026-06-01",
		"2026-06-14",
		"2026-06-15",
		"2026-06-29",
		"2026-06-30",
		null,
	];
	for (const day of days) {
		for (const state of [open, done]) {
			await admin.use(`add${one}`, {
				organization_id,
				...more,
				...state,
				[date]: day,
			});
		}
	}
	const { [keys]: work, overdue_until, soon_until } = await overview();
	expect(work).toEqual({ open: 6, overdue: 2, due_soon: 2 });
	const listed = async (filter: object) => {
		const page = await admin.use(`list${many}`, {
			organization_id,
			filter,
			order_by: { field: date },
		});
		return page[keys].map((record: Record<string, unknown>) => record[date]);
	};
	expect(await listed({ is_open: true })).toEqual(days);
	expect(await listed({ is_open: false })).toEqual(days);
	expect(await listed({ is_open: true, due_until: overdue_until })).toEqual(
		days.slice(0, 2),
	);
	expect(
		await listed({ is_open: true, due_from: TODAY, due_until: soon_until }),
	).toEqual(days.slice(2, 4));
	const refused = await admin.call(`list${many}`, {
		organization_id,
		filter: { due_from: "soon", is_open: "yes" },
	});
	expect(
		refused.body.fields.map(({ field }: { field: string }) => field),
	).toEqual(expect.arrayContaining(["filter.due_from", "filter.is_open"]));
});

test("the overview counts risks by likelihood and impact, and the filters return the same number", async () => {
	for (const [likelihood, impact] of [
		[2, 5],
		[2, 5],
		[5, 2],
	]) {
		await admin.use("addRisk", {
			organization_id,
			name: "x",
			category: "x",
			treatment: "AVOIDED",
			inherent_likelihood: likelihood,
			inherent_impact: impact,
			residual_likelihood: 1,
		});
	}
	const { risks } = await overview();
	expect(risks).toEqual({
		inherent: [
			{ likelihood: 2, impact: 5, risks: 2 },
			{ likelihood: 5, impact: 2, risks: 1 },
		],
		residual: [
			{ likelihood: 1, impact: 2, risks: 1 },
			{ likelihood: 1, impact: 5, risks: 2 },
		],
	});
	for (const which of ["inherent", "residual"]) {
		for (const cell of risks[which]) {
			const page = await admin.use("listRisks", {
				organization_id,
				filter: {
					[`${which}_likelihood`]: cell.likelihood,
					[`${which}_impact`]: cell.impact,
				},
			});
			expect(page.risks).toHaveLength(cell.risks);
		}
	}
});

test("the checks that have been failing for the longest time come first, without those of silent devices", async () => {
	const report = async (key: string, minutesAgo: number, status: string) => {
		const observed_at = new Date(Date.now() - minutesAgo * 60_000);
		const result = postureResult({
			status,
			observed_at: observed_at.toISOString(),
		});
		const { status: answered } = await served.post(
			"postures",
			{ results: [result] },
			{ key },
		);
		expect(answered).toBe(204);
		return observed_at.toISOString();
	};
	const [first, second, silent, passing] = await Promise.all([
		served.activateDevice(),
		served.activateDevice(),
		served.activateDevice(),
		served.activateDevice(),
	]);
	const later = await report(first.key, 10, "FAIL");
	const earlier = await report(second.key, 20, "FAIL");
	await report(silent.key, 30, "FAIL");
	await report(passing.key, 40, "FAIL");
	await report(passing.key, 5, "PASS");
	await served.database.owner.query(
		"update devices set last_seen_at = now() - interval '3 days' where id = $1",
		[silent.id],
	);
	const { failing_longest, newly_failing } = await overview();
	expect(
		newly_failing.map((one: { device_id: string }) => one.device_id),
	).toEqual([first.id, second.id]);
	expect(failing_longest).toEqual([
		{
			device_id: second.id,
			device_name: "laptop",
			check_key: "DISK_ENCRYPTION",
			check_name: "Full-disk encryption",
			since: earlier,
		},
		expect.objectContaining({ device_id: first.id, since: later }),
	]);
	// A failure that an exception excuses is left to nobody, so neither list has it.
	const { device_exception } = await admin.use("addDeviceException", {
		organization_id,
		device_id: second.id,
		check: "DISK_ENCRYPTION",
		reason: "It is replaced this month.",
		ends_at: new Date(Date.now() + 86_400_000).toISOString(),
	});
	const listed = async () => {
		const found = await overview();
		return [found.failing_longest, found.newly_failing].map((list) =>
			list.map((one: { device_id: string }) => one.device_id),
		);
	};
	expect(await listed()).toEqual([
		[second.id, first.id],
		[first.id, second.id],
	]);
	await admin.use("approveDeviceException", { id: device_exception.id });
	expect(await listed()).toEqual([[first.id], [first.id]]);
});

test("only admins see how many exceptions wait for a decision", async () => {
	const member = await served.signIn("member");
	const before = (await overview()).exceptions_to_decide;
	await member.use("addDeviceException", {
		organization_id,
		check: "FIREWALL_ENABLED",
		reason: "Until the rollout is done.",
		ends_at: new Date(Date.now() + 86_400_000).toISOString(),
	});
	expect((await overview()).exceptions_to_decide).toBe(before + 1);
	expect((await overview(member)).exceptions_to_decide).toBeNull();
});

test("only admins see how many active API tokens are older than 90 days", async () => {
	const member = await served.signIn("member");
	const stranger = await served.signIn("admin", organization_id);
	for (const [days, end] of [
		[91, ""],
		[89, ""],
		[91, ", revoked_at = now()"],
		[91, ", expires_at = now()"],
		// The token of a connected app, which gets a new secret every hour.
		[91, ", secret_ends_at = now() + interval '1 hour'"],
	]) {
		const { id } = await makeApiToken(served.database, member.user);
		await served.database.owner.query(
			`update api_tokens set created_at = now() - interval '${days} days' ${end} where id = $1`,
			[id],
		);
	}
	expect((await overview(stranger)).old_api_tokens).toBe(1);
	expect((await overview(member)).old_api_tokens).toBeNull();
});

test("records of every kind are listed, with the last changed ones first", async () => {
	const { vendor } = await admin.use("addVendor", {
		organization_id,
		name: "Cloud",
	});
	const { measure } = await admin.use("addMeasure", {
		organization_id,
		name: "Backups",
		category: "IT",
	});
	await admin.use("updateVendor", { id: vendor.id, name: "Clouds" });
	const { recently_changed } = await overview();
	expect(recently_changed).toHaveLength(10);
	expect(recently_changed.slice(0, 2)).toEqual([
		expect.objectContaining({
			kind: "vendor",
			id: vendor.id,
			name: "Clouds",
			is_new: false,
		}),
		expect.objectContaining({ kind: "measure", id: measure.id, is_new: true }),
	]);
});

test("the overview contains only the caller's organization, and its default day is today", async () => {
	const answer = await admin.call("getOverview", {
		organization_id: makeOrganizationId(),
	});
	expect(answer.status).toBe(403);
	const { body } = await admin.call("getOverview", { organization_id });
	expect(body.today).toMatch(/^\d{4}-\d\d-\d\d$/);
});

test("the overview accepts the first and the last day of the calendar", async () => {
	for (const [today, soon_until] of [
		["1900-01-01", "1900-01-15"],
		["9999-12-30", "9999-12-31"],
		["9999-12-31", "9999-12-31"],
	]) {
		expect(
			await admin.use("getOverview", { organization_id, today }),
		).toMatchObject({ today, soon_until });
	}
});

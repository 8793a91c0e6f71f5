import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UNDECIDED_NOTE } from "../../src/starters/undecided.ts";
import { ageRecords } from "../support/aged-records.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { endShared } from "../support/shared.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	await endShared();
	calls = await makeCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const add = (name: string, input: object) =>
	calls.call(name, { organization_id, ...input });

const dayAgo = (days: number) =>
	new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const summary = (compared_with: string) =>
	calls.call("getBoardSummary", { organization_id, compared_with });

async function addFramework(name: string) {
	const { framework } = await add("addFramework", { name });
	const { control } = await add("addControl", {
		framework_id: framework.id,
		section_title: "A.8",
		name: "Encryption",
	});
	return { framework, control };
}

const workOf = ({ work }: { work: { register: string }[] }, register: string) =>
	work.find((one) => one.register === register);

test("an organization of today has figures, and nothing to compare with", async () => {
	const { now, ...rest } = await summary(dayAgo(30));
	expect(rest).toEqual({
		today: dayAgo(0),
		compared_with: null,
		before: null,
		decisions: [],
	});
	expect(now).toMatchObject({
		coverage: [],
		risks: { inherent: [], residual: [] },
		fleet: { active_devices: 0, pass_percent: null },
		major_nonconformities: 0,
		exceptions_in_force: 0,
	});
	expect(now.work).toHaveLength(4);
});

test("the figures of an earlier day are those of its records and due dates, and a day before the records is replaced", async () => {
	const { framework, control } = await addFramework("ISO 27001");
	const { measure } = await add("addMeasure", {
		name: "Encrypt disks",
		category: "Technology",
		state: "NOT_STARTED",
	});
	await calls.call("linkRecords", {
		record_id: control.id,
		linked_record_id: measure.id,
	});
	const { risk } = await add("addRisk", {
		name: "Theft",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 5,
		inherent_impact: 4,
	});
	// It was not overdue 20 days ago.
	const { task } = await add("addTask", {
		name: "Buy locks",
		deadline: dayAgo(10),
	});
	const { nonconformity } = await add("addNonconformity", {
		title: "No log",
		severity: "MAJOR",
		due_date: dayAgo(25),
	});
	await ageRecords(calls.database.owner, organization_id, "30 days");
	await calls.call("updateMeasure", { id: measure.id, state: "IMPLEMENTED" });
	await calls.call("updateRisk", { id: risk.id, residual_likelihood: 1 });
	const changed = await summary(dayAgo(20));
	expect(changed.compared_with).toBe(dayAgo(20));
	const row = { framework_id: framework.id, name: "ISO 27001", included: 1 };
	expect(changed.before.coverage).toEqual([
		{ ...row, covered: 0, partly_covered: 0 },
	]);
	expect(changed.now.coverage).toEqual([
		{ ...row, covered: 1, partly_covered: 0 },
	]);
	expect(changed.before.risks.residual).toEqual([
		{ likelihood: 5, impact: 4, risks: 1 },
	]);
	expect(changed.now.risks.residual).toEqual([
		{ likelihood: 1, impact: 4, risks: 1 },
	]);
	const tasks = { register: "task", open: 1 };
	expect(workOf(changed.before, "task")).toEqual({ ...tasks, overdue: 0 });
	expect(workOf(changed.now, "task")).toEqual({ ...tasks, overdue: 1 });
	expect(workOf(changed.before, "nonconformity")).toMatchObject({
		overdue: 1,
	});
	expect(changed.before.major_nonconformities).toBe(1);

	await calls.call("updateTask", { id: task.id, state: "DONE" });
	await calls.call("updateNonconformity", {
		id: nonconformity.id,
		status: "CLOSED",
	});
	const closed = await summary("2001-02-03");
	expect(closed.compared_with).toBe(dayAgo(30));
	expect(workOf(closed.now, "task")).toMatchObject({ open: 0, overdue: 0 });
	expect(workOf(closed.before, "task")).toMatchObject({ open: 1 });
	expect(closed.now.major_nonconformities).toBe(0);
	expect(closed.before.major_nonconformities).toBe(1);
	expect((await summary(dayAgo(0))).before).toBeNull();
});

test("what needs a decision is counted, and the first records are named", async () => {
	for (const name of ["Fire", "Flood", "Storm", "Theft of all"]) {
		await add("addRisk", {
			name,
			category: "Nature",
			treatment: name === "Fire" ? "AVOIDED" : "MITIGATED",
			inherent_likelihood: name === "Storm" ? 5 : 4,
			inherent_impact: 4,
		});
	}
	// An accepted risk waits for nothing, and an undecided one is counted once.
	const critical = {
		category: "Nature",
		inherent_likelihood: 5,
		inherent_impact: 5,
	};
	await add("addRisk", { ...critical, name: "Sun", treatment: "ACCEPTED" });
	for (const [name, days] of [
		["Moon", 1],
		["Mars", -5],
	] as const) {
		const accepted_until = dayAgo(days);
		const treatment = "ACCEPTED";
		await add("addRisk", { ...critical, name, treatment, accepted_until });
	}
	await add("addRisk", {
		...{ ...critical, name: "Comet", treatment: "MITIGATED" },
		note: UNDECIDED_NOTE,
	});
	await add("addNonconformity", {
		title: "No key",
		severity: "MAJOR",
		due_date: dayAgo(1),
	});
	await add("addNonconformity", { title: "No lid", due_date: dayAgo(1) });
	const { device_exception } = await add("addDeviceException", {
		check: "DISK_ENCRYPTION",
		reason: "The vendor is late",
		ends_at: new Date(Date.now() + 10 * 86_400_000).toISOString(),
	});
	const named = "Full-disk encryption, all devices: The vendor is late";
	const requested = await summary(dayAgo(1));
	expect(requested.now.exceptions_in_force).toBe(0);
	expect(requested.decisions.at(-1)).toEqual({
		kind: "EXCEPTIONS_TO_DECIDE",
		count: 1,
		names: [named],
	});
	await calls.call("approveDeviceException", {
		id: device_exception.id,
	});
	const { now, decisions } = await summary(dayAgo(1));
	expect(now.exceptions_in_force).toBe(1);
	expect(decisions).toEqual([
		{
			kind: "CRITICAL_RISKS",
			count: 4,
			names: ["Storm", "Fire", "Flood"],
		},
		{ kind: "UNDECIDED_RISKS", count: 1, names: ["Comet"] },
		{ kind: "ENDED_ACCEPTANCES", count: 1, names: ["Moon"] },
		{
			kind: "OVERDUE_MAJOR_NONCONFORMITIES",
			count: 1,
			names: [expect.stringMatching(/^NC-\d+ No key$/)],
		},
		{ kind: "ENDING_EXCEPTIONS", count: 1, names: [named] },
	]);
	const later = await add("addDeviceException", {
		check: "FIREWALL_ENABLED",
		reason: "A router filters the network",
		ends_at: new Date(Date.now() + 40 * 86_400_000).toISOString(),
	});
	await calls.call("approveDeviceException", { id: later.device_exception.id });
	expect((await summary(dayAgo(1))).decisions).toEqual(decisions);
	for (const [is_ending_soon, { id }] of [
		[true, device_exception],
		[false, later.device_exception],
	]) {
		const { device_exceptions } = await calls.call("listDeviceExceptions", {
			organization_id,
			filter: { is_ending_soon },
		});
		expect(device_exceptions).toMatchObject([{ id }]);
	}
	const { risks } = await calls.call("listRisks", {
		organization_id,
		filter: { min_residual_risk_score: 15, is_accepted: false },
	});
	expect(risks.map(({ name }: { name: string }) => name).toSorted()).toEqual([
		"Fire",
		"Flood",
		"Storm",
		"Theft of all",
	]);
	const accepted = await calls.call("listRisks", {
		organization_id,
		filter: { is_accepted: true },
	});
	expect(
		accepted.risks.map(({ name }: { name: string }) => name).toSorted(),
	).toEqual(["Mars", "Moon", "Sun"]);
});

test("an exception is named by its check, its devices and its reason", async () => {
	const { device } = await add("addDevice", { name: "Ada's laptop" });
	const { device_group } = await add("addDeviceGroup", {
		name: "Build servers",
	});
	const ends_at = new Date(Date.now() + 60 * 86_400_000).toISOString();
	for (const fields of [
		{ check: "DISK_ENCRYPTION", device_id: device.id },
		{ check: "SCREEN_LOCK", group_id: device_group.id },
		{ check: "FIREWALL_ENABLED", platform: "DARWIN" },
	]) {
		await add("addDeviceException", { ...fields, reason: "Old", ends_at });
	}
	const { decisions } = await summary(dayAgo(1));
	expect(decisions.at(-2)).toEqual({
		kind: "EXCEPTIONS_TO_DECIDE",
		count: 3,
		names: [
			"Full-disk encryption, Ada's laptop: Old",
			"Screen or idle lock, group Build servers: Old",
			"Host firewall, all macOS devices: Old",
		],
	});
});

test("more frameworks and records take no more statements", async () => {
	const name = new URL(calls.database.url).pathname.slice(1);
	const count = async () => {
		const query = Client.prototype.query;
		let statements = 0;
		Client.prototype.query = function (this: Client, ...given: unknown[]) {
			// Other files of the process may have services that still run.
			if (this.database === name) statements++;
			return (query as (...all: unknown[]) => unknown).apply(this, given);
		} as typeof query;
		try {
			await summary(dayAgo(20));
		} finally {
			Client.prototype.query = query;
		}
		return statements;
	};
	const few = await count();
	for (let n = 0; n < 15; n++) await addFramework(`Framework ${n}`);
	expect(await count()).toBe(few);
	const { now } = await summary(dayAgo(20));
	expect(now.coverage).toHaveLength(12);
});

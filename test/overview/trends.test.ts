import { afterAll, beforeAll, expect, test } from "vitest";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { startTrendKeeper } from "../../src/overview/keep-trends.ts";
import { ageRecords } from "../support/aged-records.ts";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const run = (sql: string) =>
	calls.database.owner.query(sql.replaceAll("$1", `'${organization_id}'`));

const age = (months: number) =>
	ageRecords(calls.database.owner, organization_id, `${months} months`);

const points = async () =>
	(await calls.call("getTrends", { organization_id })).points;

test("trends begin when the states of records were first kept, and then follow each change", async () => {
	const nothing = await points();
	expect(nothing).toHaveLength(13);
	expect(nothing.at(-1)).toMatchObject({
		day: new Date().toISOString().slice(0, 10),
		pass_percent: null,
		risks: 0,
		residual_risk: null,
		overdue: 0,
	});
	expect(nothing[0]).toMatchObject({ risks: null, overdue: null });

	const { risk } = await calls.call("addRisk", {
		organization_id,
		name: "Theft",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 5,
		inherent_impact: 4,
	});
	const { task } = await calls.call("addTask", {
		organization_id,
		name: "Buy locks",
		deadline: "2020-01-31",
	});
	await age(3);
	await calls.call("updateRisk", { id: risk.id, residual_likelihood: 1 });
	await calls.call("updateTask", { id: task.id, state: "DONE" });
	await age(2);
	const past = await points();
	const figures = past.map((point: Record<string, unknown>) => [
		point.risks,
		point.residual_risk,
		point.overdue,
	]);
	expect(figures.slice(0, 7)).toEqual(Array(7).fill([null, null, null]));
	expect(figures.slice(8, 10)).toEqual(Array(2).fill([1, 20, 1]));
	expect(figures.slice(11)).toEqual(Array(2).fill([1, 4, 0]));
});

test("the pass rate of a month is that of the daily count on its last days", async () => {
	await run(`
		insert into check_count_days (organization_id, day, counts, compliance)
		values ($1, date_trunc('month', now() at time zone 'UTC')::date - 4, '{
			"DISK_ENCRYPTION": {"PASSING": 3, "FAILING": 1, "EXCEPTED": 5},
			"FIREWALL_ENABLED": {"PASSING": 6, "IN_GRACE": 1, "STALE": 1, "NOT_APPLICABLE": 9}
		}', '{}')`);
	const past = await points();
	expect(past.at(-2).pass_percent).toBe(75);
	expect(past.at(-3).pass_percent).toBeNull();
});

test("today is the day of the organization, as on Home", async () => {
	await calls.call("addTask", {
		organization_id,
		name: "Close the door",
		deadline: new Date().toISOString().slice(0, 10),
	});
	// At any time, it is another day than in UTC in one of the two.
	for (const time_zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
		await calls.call("updateOrganizationSettings", {
			organization_id,
			time_zone,
		});
		const { today, tasks } = await calls.call("getOverview", {
			organization_id,
		});
		const last = (await points()).at(-1);
		expect(last).toMatchObject({ day: today, overdue: tasks.overdue });
	}
});

test("each past moment has the figures of the states that were valid then", async () => {
	const { pool, owner } = calls.database;
	const id = await createOrganization(pool, "With a past");
	const by = calls.principal("admin", id);
	const call = (name: string, input: object) =>
		calls.call(name, { organization_id: id, ...input }, by);
	const addRisk = (impact: number) =>
		call("addRisk", {
			name: "Theft",
			category: "Security",
			treatment: "MITIGATED",
			inherent_likelihood: 5,
			inherent_impact: impact,
		});
	const [changed, archived] = [await addRisk(5), await addRisk(4)];
	await addRisk(1);
	const now = new Date();
	/** The end of the month, so many months ago. A point of the trends is of this moment. */
	const end = (months: number) =>
		new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));
	const before = (time: Date, days: number) =>
		new Date(time.getTime() - days * 864e5).toISOString();
	const { task } = await call("addTask", {
		name: "Buy locks",
		deadline: before(end(6), 2).slice(0, 10),
	});
	await ageRecords(owner, id, "10 months");
	const states: [table: string, id: string, from: string, fields: string][] = [
		["risks", changed.risk.id, before(end(7), 9), "residual_impact = 2"],
		// A state that begins with a moment is valid at it. The one that ends with it is not.
		["risks", changed.risk.id, before(end(5), 0), "residual_impact = 4"],
		["tasks", task.id, before(end(4), 0), "state = 'DONE'"],
		// Two states between the same two moments.
		["risks", changed.risk.id, before(end(3), 9), "residual_impact = 1"],
		["risks", changed.risk.id, before(end(3), 8), "residual_impact = 3"],
		["risks", archived.risk.id, before(end(2), 5), "archived_at = now()"],
		["tasks", task.id, before(end(1), 3), "state = 'TODO'"],
	];
	for (const [table, record, from, fields] of states) {
		await owner.query(
			`update ${table} set updated_at = $2, ${fields} where id = $1`,
			[record, from],
		);
	}
	const { points } = await call("getTrends", {});
	const seen = [];
	for (let months = 8; months >= 0; months--) {
		const as_of = before(end(months), 0);
		const { residual } = await call("getRiskMatrix", { as_of });
		const scores = residual.flatMap(
			(cell: { likelihood: number; impact: number; risks: number }) =>
				Array(cell.risks).fill(cell.likelihood * cell.impact),
		);
		const sum = scores.reduce((a: number, b: number) => a + b, 0);
		const filter = {
			is_open: true,
			due_until: before(end(months), 2).slice(0, 10),
		};
		const { total } = await call("countRecords", {
			kind: "task",
			filter,
			as_of,
		});
		const point = points[11 - months];
		expect(point).toMatchObject({
			day: before(end(months), 1).slice(0, 10),
			risks: scores.length,
			residual_risk: Math.round((10 * sum) / scores.length) / 10,
			overdue: total,
		});
		seen.push([point.risks, point.overdue]);
	}
	expect(seen).toEqual([
		...[
			[3, 0],
			[3, 0],
		],
		...[
			[3, 1],
			[3, 1],
			[3, 0],
			[3, 0],
		],
		...[
			[2, 0],
			[2, 1],
			[2, 1],
		],
	]);

	const keeper = startTrendKeeper(pool, pool, makeLogger("silent"));
	await keeper.idle();
	await keeper.stop();
	expect((await call("getTrends", {})).points).toEqual(points);
	// The figures are the kept ones, until the months end at other moments.
	await owner.query(
		`update trend_points set risks = 7 where organization_id = $1
			and at = (select min(at) from trend_points where organization_id = $1)`,
		[id],
	);
	const kept = (await call("getTrends", {})).points;
	const first = points.findIndex(
		(point: { risks: number | null }) => point.risks !== null,
	);
	expect(kept).toEqual(points.with(first, { ...points[first], risks: 7 }));
	await call("updateOrganizationSettings", { time_zone: "Asia/Kolkata" });
	expect((await call("getTrends", {})).points[first].risks).toBe(3);
});

test("a month is kept when it is over, but not for states that nobody knows", async () => {
	const { pool, owner } = calls.database;
	const id = await createOrganization(pool, "With a short past");
	const keep = async () => {
		const keeper = startTrendKeeper(pool, pool, makeLogger("silent"));
		await keeper.idle();
		await keeper.stop();
		const { rows } = await owner.query(
			"select at from trend_points where organization_id = $1 order by at",
			[id],
		);
		return rows.map(({ at }) => new Date(at).getTime());
	};
	expect(await keep()).toEqual([]);
	const now = new Date();
	const ends = [2, 1, 0].map((months) =>
		Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1),
	);
	// From the millisecond after the end of the first one.
	await owner.query(
		"update organizations set records_known_since = $2 where id = $1",
		[id, new Date((ends[0] as number) + 1)],
	);
	// In the first hour after the end of a month, its figures may still change.
	const isOver = now.getTime() - (ends[2] as number) > 3_600_000;
	expect(await keep()).toEqual(isOver ? ends.slice(1) : ends.slice(1, 2));
});

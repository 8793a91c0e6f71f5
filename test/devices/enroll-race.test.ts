import { afterAll, beforeAll, expect, test } from "vitest";
import {
	heartbeatBody,
	readError,
	startService,
	type TestService,
	untilTaken,
} from "../support/service.ts";

let assay: TestService;
/** A second service with its own pool and batches, which behaves as another process would. */
let postToOther: TestService["post"];
let other: TestService;
beforeAll(async () => {
	assay = await startService();
	other = await startService(async () => assay.database.url);
	postToOther = other.post;
});
afterAll(async () => {
	await other.close();
	await assay.close();
});

/**
 * Returns a function that sends requests to one of the two services, in turn. A device that is turned
 * away, because the machine is busy, asks again.
 */
const postTo =
	(index: number): TestService["post"] =>
	(...request) =>
		untilTaken(() => (index % 2 ? postToOther : assay.post)(...request));

const statuses = (answers: Response[]) =>
	answers.map((answer) => answer.status).sort((a, b) => a - b);

test("exactly one of 50 simultaneous exchanges of one token succeeds, and the device has its key", async () => {
	for (let round = 0; round < 3; round++) {
		const { token } = await assay.makeToken();
		const answers = await Promise.all(
			Array.from({ length: 50 }, (_, i) => postTo(i)("enroll", { token })),
		);
		expect(statuses(answers)).toEqual([200, ...Array(49).fill(401)]);
		for (const answer of answers) {
			if (answer.status === 401) {
				expect((await readError(answer)).error).toBe("unauthorized");
				continue;
			}
			const { api_key: key } = (await answer.json()) as { api_key: string };
			const beat = await assay.post("heartbeat", heartbeatBody(), { key });
			expect(beat.status).toBe(200);
		}
	}
});

test("exactly one of 10 PENDING devices that activate at once with one hardware_uuid becomes ACTIVE", async () => {
	for (let round = 0; round < 3; round++) {
		const body = heartbeatBody();
		const devices = await Promise.all(
			Array.from({ length: 10 }, () => assay.enrollDevice()),
		);
		const answers = await Promise.all(
			devices.map(({ key }, i) => postTo(i)("heartbeat", body, { key })),
		);
		expect(statuses(answers)).toEqual([200, ...Array(9).fill(400)]);
		const { rows } = await assay.database.owner.query<{
			status: string;
			hardware_uuid: string | null;
			conflicts: number;
		}>(
			`select d.status, d.hardware_uuid,
				(select count(*)::int from device_conflicts c
				where c.device_id = d.id and c.kind = 'DUPLICATE_HARDWARE') as conflicts
			from devices d where d.id = any($1) order by d.status`,
			[devices.map(({ id }) => id)],
		);
		expect(rows).toEqual([
			{ status: "ACTIVE", hardware_uuid: body.hardware_uuid, conflicts: 0 },
			...Array(9).fill({
				status: "PENDING",
				hardware_uuid: null,
				conflicts: 1,
			}),
		]);
	}
});

test("10 simultaneous first heartbeats of one device all succeed, and none is a conflict", async () => {
	const { id, key } = await assay.enrollDevice();
	const body = heartbeatBody();
	const answers = await Promise.all(
		Array.from({ length: 10 }, (_, i) => postTo(i)("heartbeat", body, { key })),
	);
	expect(statuses(answers)).toEqual(Array(10).fill(200));
	const { rows } = await assay.database.owner.query(
		"select status, (select count(*)::int from device_conflicts c where c.device_id = d.id) as conflicts from devices d where id = $1",
		[id],
	);
	expect(rows).toEqual([{ status: "ACTIVE", conflicts: 0 }]);
});

test("exactly one of 20 simultaneous unenrolls with one key is answered with 204, and the others with 401", async () => {
	const { key } = await assay.activateDevice();
	const answers = await Promise.all(
		Array.from({ length: 20 }, (_, i) => postTo(i)("unenroll", "", { key })),
	);
	expect(statuses(answers)).toEqual([204, ...Array(19).fill(401)]);
});

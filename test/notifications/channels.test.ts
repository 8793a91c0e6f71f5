import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openStand, type Stand } from "./stand.ts";

let stand: Stand;
beforeAll(async () => {
	stand = await openStand();
});
afterEach(() => stand.reset());
afterAll(() => stand.close());

test("a channel takes only the fields of its kind, and its errors name them", async () => {
	const { address, call, addChannel } = stand;
	const wrong = async (input: object, field: string) => {
		const { status, body } = await call("addNotificationChannel", {
			name: "x",
			...input,
		});
		expect(status).toBe(400);
		expect(body.fields.map((one: { field: string }) => one.field)).toContain(
			field,
		);
	};
	await wrong({ kind: "SLACK" }, "address");
	await wrong({ kind: "SLACK", address: "ftp://example.com" }, "address");
	await wrong({ kind: "SLACK", address: "http://10.1.2.3/x" }, "address");
	await wrong({ kind: "SLACK", address, digest_weekday: 1 }, "digest_weekday");
	// Each event that happens is compared with this list.
	const event_types = Array.from({ length: 100 }, () => "device.revoked");
	await wrong({ kind: "SLACK", address, event_types }, "event_types");
	await wrong({ kind: "DEVICE_OWNERS", address }, "address");
	await wrong(
		{ kind: "OVERDUE_WORK", event_types: ["posture.failed"] },
		"event_types",
	);
	await wrong({ kind: "OVERDUE_WORK", digest_weekday: 8 }, "digest_weekday");
	await addChannel("ADMINISTRATORS");
	await wrong({ kind: "ADMINISTRATORS" }, "kind");
	const both = await Promise.all(
		[1, 2].map(() =>
			call("addNotificationChannel", { kind: "DEVICE_OWNERS", name: "x" }),
		),
	);
	expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test("an organization sends at most 20 test messages an hour to its chats", async () => {
	const { call, addChannel } = stand;
	const { id } = await addChannel("SLACK");
	const answers = [];
	// Few at a time, because a busy service turns calls away that have waited for long.
	for (let round = 0; round < 5; round++) {
		answers.push(
			...(await Promise.all(
				Array.from({ length: 5 }, () =>
					call("testNotificationChannel", { id }),
				),
			)),
		);
	}
	expect(answers.filter(({ status }) => status === 200).length).toBe(20);
	const rejected = answers.find(({ status }) => status !== 200);
	expect(rejected?.status).toBe(400);
	expect(rejected?.body.message).toContain("try again later");
});
